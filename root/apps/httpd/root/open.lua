-- httpd.root.open (...)
-- Not there any more: the root itself is served: put objects at
-- suites.webserverScripts.
error ("httpd.root.open is not there any more: the root itself is served: put objects at suites.webserverScripts", 0)
