-- httpd.getPostProcessor ()
-- Not there any more: it is the script
-- user.webserver.actions.POSTPROCESSOR, where the web server raises that
-- action.
error ("httpd.getPostProcessor is not there any more: it is the script user.webserver.actions.POSTPROCESSOR, where the web server raises that action", 0)
