-- webserver.download (value, name)
-- A response with which a browser saves a binary or a text under a name, for
-- return. Folders and characters that mean something in a path are left out
-- of the name. Ranges and conditional requests are answered.
-- > webserver.download ("a,b", "../list.csv").headers ["Content-Disposition"]
-- = attachment; filename="list.csv"
return system.verbs.builtins.webserver.download (...)
