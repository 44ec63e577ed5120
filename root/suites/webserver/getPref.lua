-- webserver.getPref (name)
-- A setting of user.webserver, else an object of user.webserver.prefs, else
-- false.
return system.verbs.builtins.webserver.getPref (...)
