-- webserver.parseArgs (text [, table])
-- Reads URL-encoded text, such as params.httpSearchArgs, into a table and
-- returns it: the one that is given, or a new one. A name seen again makes a
-- list. Names are only names of cells in that table, whatever they are: none
-- leads out of it.
-- > webserver.parseArgs ("name=Ada+Lovelace&n=1&n=2").name
-- = Ada Lovelace
-- > local t = {}
-- > webserver.parseArgs ("user.webserver.serverName=mine", t)
-- > return t ["user.webserver.serverName"] .. " / " .. user.webserver.chunkSize
-- = mine / 24
local text, into = ...
local fields = system.verbs.builtins.webserver.parseArgs (text)
if into == nil then
	return fields
end
for name, value in pairs (fields) do
	into [name] = value
end
return into
