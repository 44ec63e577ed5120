-- httpd.commands.writeReport ()
-- Not there any more: programs for logs digest the log of the web server;
-- httpd.statusReport tells how the server is.
error ("httpd.commands.writeReport is not there any more: programs for logs digest the log of the web server; httpd.statusReport tells how the server is", 0)
