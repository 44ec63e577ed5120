-- httpd.root.newTable (...)
-- Not there any more: the root itself is served: put objects at
-- suites.webserverScripts.
error ("httpd.root.newTable is not there any more: the root itself is served: put objects at suites.webserverScripts", 0)
