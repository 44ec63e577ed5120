-- httpd.statusReport ()
-- What the web server is called, what this process has answered, and which
-- switches are on, line by line.
-- > httpd.statusReport ():match ("^Server: [^\n]*")
-- = Server: Apache/2.4.62 (Debian)
return webserver.statusReport ()
