-- httpd.getTimeOut ()
-- The seconds that all scripts of one request may take, the setting maxTime.
-- > httpd.getTimeOut ()
-- = 10
return webserver.getPref ("maxTime")
