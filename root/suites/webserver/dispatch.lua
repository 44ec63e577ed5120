-- webserver.dispatch (params)
-- Another name for webserver.handler.
-- > params.scriptName = "/samples.tellTime.fcgi"
-- > return webserver.dispatch (params):match ("It is now")
-- = It is now
return system.verbs.builtins.webserver.handler (...)
