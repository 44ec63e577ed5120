-- httpd.root.defined (...)
-- Not there any more: the root itself is served: put objects at
-- suites.webserverScripts, and ask odb.defined.
error ("httpd.root.defined is not there any more: the root itself is served: put objects at suites.webserverScripts, and ask odb.defined", 0)
