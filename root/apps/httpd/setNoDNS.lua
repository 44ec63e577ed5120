-- httpd.setNoDNS (text)
-- Not there any more: the web server's own configuration says it, such as
-- HostnameLookups in Apache.
error ("httpd.setNoDNS is not there any more: the web server's own configuration says it, such as HostnameLookups in Apache", 0)
