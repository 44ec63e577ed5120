-- httpd.refuseConnections (flag)
-- Maintenance: while flag is true, every request but the developer's is
-- answered 503, with user.webserver.prefs.maintenancePage and a Retry-After
-- field. Files that the web server serves by itself are not refused.
-- > httpd.refuseConnections (true)
-- > return user.webserver.flRefuseConnections
-- = true
local flag = ...
if type (flag) ~= "boolean" then
	error ("httpd.refuseConnections wants true or false", 0)
end
user.webserver.flRefuseConnections = flag
