-- /samples.cached.fcgi: a page that caches may keep for a minute, because
-- its header says so.
local page = "<p>Made at " .. tostring (clock.now ()) .. " UTC, good for a minute.</p>\n"
return webserver.httpHeader2 () .. suites.webserverScripts.samples._page ("A page for caches", page)
