-- webserver.debugCGI ()
-- Runs the last request that Debugging has kept again and returns its response.
-- > select (2, pcall (webserver.debugCGI)):match ("no .*kept") ~= nil
-- = true
return system.verbs.builtins.webserver.debugCGI ()
