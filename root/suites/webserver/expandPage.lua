-- webserver.expandPage (params)
-- The text of the page that the web server asked for, its markers replaced.
return system.verbs.builtins.webserver.expandPage (...)
