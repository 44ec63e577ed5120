-- httpd.root.close (...)
-- Not there any more: the root itself is served: put objects at
-- suites.webserverScripts.
error ("httpd.root.close is not there any more: the root itself is served: put objects at suites.webserverScripts", 0)
