-- httpd.getErrorFile ()
-- The text of the page for failures, user.webserver.prefs.errorPage.
-- > httpd.getErrorFile ():match ("<h1>.-</h1>")
-- = <h1>Something went wrong</h1>
return user.webserver.prefs.errorPage
