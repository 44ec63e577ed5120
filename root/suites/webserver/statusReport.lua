-- webserver.statusReport ()
-- What the web server is called, what this process has answered, and which
-- switches are on, line by line. httpd.statusReport calls it.
-- > webserver.statusReport ():match ("Refuse connections: %a+")
-- = Refuse connections: false
return system.verbs.builtins.webserver.statusReport ()
