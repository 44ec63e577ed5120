-- webserver.fileNotFoundError ([params])
-- The 404 response, made from user.webserver.prefs.fileNotFoundPage.
return system.verbs.builtins.webserver.fileNotFoundError (...)
