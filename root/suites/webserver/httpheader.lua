-- webserver.httpHeader ([status = "200 OK" [, modifier = "text/html"]])
-- The head of a response. The modifier is the content type; for "302 FOUND",
-- 301, 303, 307 and 308 it is the URL to go to, for "401 UNAUTHORIZED" the
-- realm. To add fields, make a copy as httpHeader2 is one.
-- > webserver.httpHeader ():match ("^[^\r]*")
-- = HTTP/1.0 200 OK
-- > webserver.httpHeader ("302 FOUND", "https://www.example.com/"):match ("Location: [^\r]*")
-- = Location: https://www.example.com/
return system.verbs.builtins.webserver.httpHeader (...)
