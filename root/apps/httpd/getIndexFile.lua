-- httpd.getIndexFile ()
-- The names for a URL that ends with a slash, with blanks between them; they
-- are for the built-in server, others have their DirectoryIndex.
-- > httpd.getIndexFile ()
-- = index.html default.mcro
return odb.get (odb.address ("user.webserver.directoryIndex", "*", "/"), "")
