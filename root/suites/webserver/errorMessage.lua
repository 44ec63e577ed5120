-- webserver.errorMessage (message [, params])
-- The response of a failure, made from user.webserver.prefs.errorPage.
return system.verbs.builtins.webserver.errorMessage (...)
