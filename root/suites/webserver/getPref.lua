-- webserver.getPref (name)
-- A setting of user.webserver, else an object of user.webserver.prefs, else
-- false.
-- > webserver.getPref ("chunkSize")
-- = 24
-- > webserver.getPref ("no such thing")
-- = false
return system.verbs.builtins.webserver.getPref (...)
