-- /samples.tellTime.fcgi: the smallest page, with a header of its own.
return webserver.httpHeader () .. "<html><body><p>It is now " .. tostring (clock.now ()) .. " UTC.</p></body></html>\n"
