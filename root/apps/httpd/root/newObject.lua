-- httpd.root.newObject (...)
-- Not there any more: the root itself is served: put objects at
-- suites.webserverScripts.
error ("httpd.root.newObject is not there any more: the root itself is served: put objects at suites.webserverScripts", 0)
