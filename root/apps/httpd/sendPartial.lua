-- httpd.sendPartial (data [, connection [, more = true]])
-- Sends a piece of the response at once, to the server that asked. The
-- connection is that of this request, connectionID; there is no other that a
-- script could answer.
-- > httpd.sendPartial ("one, ", connectionID)
-- > httpd.sendPartial ("two", connectionID, false)
-- > return ""
-- = one, two
local data, connection, more = ...
if connection ~= nil and connection ~= connectionID then
	error ("httpd.sendPartial: connection " .. tostring (connection) .. " is not this request's, which is " .. tostring (connectionID), 0)
end
return webserver.sendPartial (data, more ~= false)
