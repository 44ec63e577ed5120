-- httpd.setPigDelay (text)
-- Not there any more: the operating system shares out time; the setting
-- maxTime bounds a script.
error ("httpd.setPigDelay is not there any more: the operating system shares out time; the setting maxTime bounds a script", 0)
