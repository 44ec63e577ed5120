-- httpd.root.setValue (...)
-- Not there any more: the root itself is served: put objects at
-- suites.webserverScripts.
error ("httpd.root.setValue is not there any more: the root itself is served: put objects at suites.webserverScripts", 0)
