-- httpd.getPort ()
-- The port of the web server that asked.
-- > httpd.getPort ()
-- = 80
if serverPort == "" then
	error ("httpd.getPort: no request is being answered that came to a port", 0)
end
return tonumber (serverPort)
