-- webserver.fileNotFoundError ([params])
-- The 404 response, made from user.webserver.prefs.fileNotFoundPage.
-- > webserver.fileNotFoundError (params):match ("^[^\r]*")
-- = HTTP/1.0 404 FILE NOT FOUND
return system.verbs.builtins.webserver.fileNotFoundError (...)
