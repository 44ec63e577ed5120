-- webserver.httpHeader2 ([status [, modifier [, seconds = 60]]])
-- A copy of webserver.httpHeader that adds what a cache needs to keep the
-- page: how long it is fresh, and when it last changed (here: at the start
-- of the minute). Without such fields nothing of ours is ever cached.
local status, modifier, seconds = ...
local head = webserver.httpHeader (status, modifier)
local now = os.time ()
return head:sub (1, -3)
	.. "Cache-Control: public, max-age=" .. (seconds or 60) .. "\r\n"
	.. "Last-Modified: " .. os.date ("!%a, %d %b %Y %H:%M:%S GMT", now - now % 60) .. "\r\n\r\n"
