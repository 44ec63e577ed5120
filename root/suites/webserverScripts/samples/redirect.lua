-- /samples.redirect.fcgi: sends the visitor to another page.
local params = ...
local scheme = params.cgi.HTTPS == "on" and "https" or "http"
local host = params.headers.host or params.serverName
return webserver.httpHeader ("302 FOUND", scheme .. "://" .. host .. "/samples.tellTime.fcgi")
