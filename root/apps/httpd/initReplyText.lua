-- httpd.initReplyText ([status [, modifier]])
-- The head of a response: the older name of webserver.httpHeader.
-- > httpd.initReplyText ():match ("^[^\r]*")
-- = HTTP/1.0 200 OK
return webserver.httpHeader (...)
