-- webserver.handler (params)
-- Runs the action of a request and returns what its script returned: the
-- script at user.webserver.actions.<action>, else the object that the last
-- part of the path names below suites.webserverScripts. The supplied trap
-- calls it. The callbacks of user.webserver.callbacks stand around it.
-- > params.scriptName = "/samples.tellTime.fcgi"
-- > return webserver.handler (params):match ("It is now")
-- = It is now
return system.verbs.builtins.webserver.handler (...)
