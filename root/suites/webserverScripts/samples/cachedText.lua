-- /samples.cachedText.fcgi: a page that caches may keep, but ask about each
-- time. While samples.readme is what it was they get no body; an edit of it
-- is seen by the next visitor.
local text = tostring (suites.webserverScripts.samples.readme)
local page = suites.webserverScripts.samples._page ("A text", "<pre>" .. html.escape (text) .. "</pre>\n")
return webserver.httpHeader2 ("200 OK", "text/html", 0, page) .. page
