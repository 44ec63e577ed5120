-- httpd.setErrorFile (page)
-- Sets the text of the page for failures; its markers see errorMessage and
-- incident. It is the page itself, not the name of a file.
-- > httpd.setErrorFile ("<html><h1>Oh</h1><!--#errorMessage--></html>")
-- > return webserver.errorMessage ("no tea"):match ("<h1>.*")
-- = <h1>Oh</h1>no tea</html>
local page = ...
if type (page) ~= "string" or not page:find ("<", 1, true) then
	error ("httpd.setErrorFile wants the page itself, in HTML; it is kept at user.webserver.prefs.errorPage", 0)
end
user.webserver.prefs.errorPage = odb.text (page)
