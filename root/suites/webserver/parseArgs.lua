-- webserver.parseArgs (text [, table])
-- Reads URL-encoded text, such as params.httpSearchArgs, into a table and
-- returns it. A name seen again makes a list. Names are only keys of that
-- table, whatever they are.
return system.verbs.builtins.webserver.parseArgs (...)
