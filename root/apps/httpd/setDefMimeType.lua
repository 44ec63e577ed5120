-- httpd.setDefMimeType (text)
-- Not there any more: the web server's own configuration says it; the mime
-- table has the type of an extension, see httpd.getSuffixMappings.
error ("httpd.setDefMimeType is not there any more: the web server's own configuration says it; the mime table has the type of an extension, see httpd.getSuffixMappings", 0)
