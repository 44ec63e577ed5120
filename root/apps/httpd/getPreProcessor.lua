-- httpd.getPreProcessor ()
-- Not there any more: it is the script user.webserver.actions.PREPROCESSOR,
-- where the web server raises that action.
error ("httpd.getPreProcessor is not there any more: it is the script user.webserver.actions.PREPROCESSOR, where the web server raises that action", 0)
