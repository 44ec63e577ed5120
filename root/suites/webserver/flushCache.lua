-- webserver.flushCache ([path])
-- Makes the caches in front of the web server forget a page, or without a
-- path everything; done when the changes of this request are committed.
-- The settings cacheServers and cacheFolders say where the caches are.
-- > select (2, pcall (webserver.flushCache)):match ("webserver.flushCache: .*cacheServers") ~= nil
-- = true
system.verbs.builtins.webserver.flushCache (...)
