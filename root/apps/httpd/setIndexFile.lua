-- httpd.setIndexFile (names)
-- Sets the names for a URL that ends with a slash, on all hosts of the built-in
-- server.
-- > httpd.setIndexFile ("default.mcro")
-- > return httpd.getIndexFile ()
-- = default.mcro
local names = ...
if type (names) ~= "string" or names:find ("[/%c\\]") or not names:find ("%S") then
	error ("httpd.setIndexFile wants names of files, with blanks between them", 0)
end
odb.set (odb.address ("user.webserver.directoryIndex", "*", "/"), names)
