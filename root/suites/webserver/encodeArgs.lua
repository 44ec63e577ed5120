-- webserver.encodeArgs (table): the inverse of webserver.parseArgs.
return system.verbs.builtins.webserver.encodeArgs (...)
