-- httpd.getDefMimeType ()
-- Not there any more: the web server's own configuration says it; the mime
-- table has the type of an extension, see httpd.getSuffixMappings.
error ("httpd.getDefMimeType is not there any more: the web server's own configuration says it; the mime table has the type of an extension, see httpd.getSuffixMappings", 0)
