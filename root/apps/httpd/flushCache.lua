-- httpd.flushCache ([path])
-- Makes the cache in front of the web server forget a page, or everything: what
-- webserver.flushCache does.
-- > select (2, pcall (httpd.flushCache)):match ("webserver.flushCache: .*cacheServers") ~= nil
-- = true
return webserver.flushCache (...)
