-- webserver.debugCGI ()
-- Runs the last request that Debugging has recorded again and returns its response.
-- > select (2, pcall (webserver.debugCGI)):match ("no .*recorded") ~= nil
-- = true
return system.verbs.builtins.webserver.debugCGI ()
