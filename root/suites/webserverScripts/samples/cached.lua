-- /samples.cached.fcgi: a page that caches may keep for a minute, because
-- its header says so.
local htmltext = webserver.httpHeader2 ()
return htmltext .. "<html><body><p>Made at " .. tostring (clock.now ()) .. " UTC, good for a minute.</p></body></html>\n"
