-- httpd.getVersion ()
-- The version of the web server that asked.
-- > httpd.getVersion ()
-- = 2.4.62 (Debian)
return httpd.appInfo.version
