-- httpd.getPigDelay ()
-- Not there any more: the operating system shares out time; the setting
-- maxTime bounds a script.
error ("httpd.getPigDelay is not there any more: the operating system shares out time; the setting maxTime bounds a script", 0)
