-- httpd.requestReporting (flag)
-- Not there any more: the web server sends no reports; httpd.statusReport
-- tells how it is.
error ("httpd.requestReporting is not there any more: the web server sends no reports; httpd.statusReport tells how it is", 0)
