-- webserver.processMacros (text [, names])
-- The text with its markers replaced. Names are looked up in the table
-- names first, then as in a page. Texts of that table are made harmless, as
-- if they had come with the request; raw (name) inserts one as it is.
-- > webserver.processMacros ("Hello, <!--#name-->.", {name = "Tom & Co"})
-- = Hello, Tom &amp; Co.
return system.verbs.builtins.webserver.processMacros (...)
