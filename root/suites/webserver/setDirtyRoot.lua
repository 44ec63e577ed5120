-- webserver.setDirtyRoot ()
-- Sets user.webserver.flDirtyRoot: there is something to save.
return system.verbs.builtins.webserver.setDirtyRoot ()
