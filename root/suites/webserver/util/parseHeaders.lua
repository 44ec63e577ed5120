-- webserver.util.parseHeaders (request [, table])
-- Reads the head of a request, such as params.fullRequest. Returns its first
-- line and the table with its fields: the one that is given, or a new one.
-- Names stay as they were sent; a field that comes again makes a list; a line
-- without a colon has the value "".
-- > local line, fields = webserver.util.parseHeaders ("GET / HTTP/1.0\r\nHost: a.test\r\n\r\n")
-- > return line .. ", " .. fields.Host
-- = GET / HTTP/1.0, a.test
local request, into = ...
local line, fields = system.verbs.builtins.webserver.util.parseHeaders (request)
if into == nil then
	return line, fields
end
for name, value in pairs (fields) do
	into [name] = value
end
return line, into
