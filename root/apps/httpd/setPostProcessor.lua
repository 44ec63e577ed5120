-- httpd.setPostProcessor (text)
-- Not there any more: it is the script
-- user.webserver.actions.POSTPROCESSOR, where the web server raises that
-- action.
error ("httpd.setPostProcessor is not there any more: it is the script user.webserver.actions.POSTPROCESSOR, where the web server raises that action", 0)
