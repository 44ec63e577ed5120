-- httpd.verboseMessages (flag)
-- While flag is true, every request is logged, with its action, status and
-- time.
-- > httpd.verboseMessages (true)
-- > return user.webserver.flVerboseMessages
-- = true
local flag = ...
if type (flag) ~= "boolean" then
	error ("httpd.verboseMessages wants true or false", 0)
end
user.webserver.flVerboseMessages = flag
