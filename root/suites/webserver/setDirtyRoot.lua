-- webserver.setDirtyRoot ()
-- Sets user.webserver.flDirtyRoot: there is something to save.
-- > webserver.setDirtyRoot ()
-- > return user.webserver.flDirtyRoot
-- = true
return system.verbs.builtins.webserver.setDirtyRoot ()
