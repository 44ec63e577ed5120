-- webserver.util.buildResponse (code [, headers [, body]])
-- A complete HTTP/1.1 response with Date, Server and Content-Length. A list
-- in the headers makes a field several times. Whether the connection is closed
-- afterwards is the web server's business.
-- > webserver.util.buildResponse (404, {["X-Why"] = "gone"}, "no"):match ("^[^\r]*")
-- = HTTP/1.1 404 Not Found
return system.verbs.builtins.webserver.util.buildResponse (...)
