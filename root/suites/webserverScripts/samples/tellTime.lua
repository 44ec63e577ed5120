-- /samples.tellTime.fcgi: the smallest page, with a header of its own.
local page = "<p>It is now " .. tostring (clock.now ()) .. " UTC.</p>\n"
return webserver.httpHeader () .. suites.webserverScripts.samples._page ("The time", page)
