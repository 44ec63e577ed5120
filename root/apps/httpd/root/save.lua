-- httpd.root.save (...)
-- Not there any more: each request saves what it writes;
-- webserver.setDirtyRoot asks for a saved copy.
error ("httpd.root.save is not there any more: each request saves what it writes; webserver.setDirtyRoot asks for a saved copy", 0)
