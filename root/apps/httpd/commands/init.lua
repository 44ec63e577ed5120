-- httpd.commands.init ()
-- Not there any more: nothing has to be set up for the log of the web
-- server.
error ("httpd.commands.init is not there any more: nothing has to be set up for the log of the web server", 0)
