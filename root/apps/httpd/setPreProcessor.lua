-- httpd.setPreProcessor (text)
-- Not there any more: it is the script user.webserver.actions.PREPROCESSOR,
-- where the web server raises that action.
error ("httpd.setPreProcessor is not there any more: it is the script user.webserver.actions.PREPROCESSOR, where the web server raises that action", 0)
