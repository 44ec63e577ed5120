-- httpd.setTimeOut (seconds)
-- Sets the seconds that all scripts of one request may take. The web server has
-- a time-out of its own, which this does not change.
-- > httpd.setTimeOut (20)
-- > return user.webserver.maxTime
-- = 20
local seconds = tonumber ((...))
if not seconds or seconds < 0.01 or seconds > 3600 then
	error ("httpd.setTimeOut wants seconds, from 0.01 to 3600", 0)
end
user.webserver.maxTime = seconds
