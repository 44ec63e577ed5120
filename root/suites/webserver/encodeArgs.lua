-- webserver.encodeArgs (table)
-- The inverse of webserver.parseArgs, in the order of the names.
-- > webserver.encodeArgs ({name = "Ada Lovelace", n = {1, 2}})
-- = n=1&n=2&name=Ada+Lovelace
return system.verbs.builtins.webserver.encodeArgs (...)
