-- webserver.expandPage (params)
-- The text of the page that the web server asked for, its markers replaced.
-- > params.scriptName = "/hello.mcro"
-- > return webserver.expandPage (params)
-- = Hello from /hello.mcro
return system.verbs.builtins.webserver.expandPage (...)
