-- httpd.commands.digestLog ()
-- Not there any more: programs for logs digest the log of the web server.
error ("httpd.commands.digestLog is not there any more: programs for logs digest the log of the web server", 0)
