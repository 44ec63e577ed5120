-- webserver.init ()
-- Makes what is missing at user.webserver: settings with their defaults, and
-- copies of what lies at suites.webserver.data. Nothing that is there is
-- touched. Returns the list of the addresses that it made.
-- > user.webserver.actions = nil
-- > return table.concat (webserver.init (), " ")
-- = user.webserver.actions
return system.verbs.builtins.webserver.init ()
