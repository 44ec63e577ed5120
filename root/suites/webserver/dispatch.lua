-- webserver.dispatch (params): another name for webserver.handler.
return system.verbs.builtins.webserver.handler (...)
