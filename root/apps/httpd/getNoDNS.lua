-- httpd.getNoDNS ()
-- Not there any more: the web server's own configuration says it, such as
-- HostnameLookups in Apache.
error ("httpd.getNoDNS is not there any more: the web server's own configuration says it, such as HostnameLookups in Apache", 0)
