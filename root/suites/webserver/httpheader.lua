-- webserver.httpHeader ([status = "200 OK" [, modifier = "text/html"]])
-- The head of a response. The modifier is the content type; for "302 FOUND"
-- it is the URL to go to, for "401 UNAUTHORIZED" the realm. To add fields,
-- make a copy as httpHeader2 is one.
return system.verbs.builtins.webserver.httpHeader (...)
