-- httpd.suspendLogging (flag)
-- While flag is true, nothing is logged of requests, failures included.
-- > httpd.suspendLogging (true)
-- > return user.webserver.flSuspendLogging
-- = true
local flag = ...
if type (flag) ~= "boolean" then
	error ("httpd.suspendLogging wants true or false", 0)
end
user.webserver.flSuspendLogging = flag
