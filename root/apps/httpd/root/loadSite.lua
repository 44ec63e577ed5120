-- httpd.root.loadSite (...)
-- Not there any more: scripter import brings a folder of objects into the
-- root.
error ("httpd.root.loadSite is not there any more: scripter import brings a folder of objects into the root", 0)
