-- webserver.sendPartial (data [, params] [, more = true])
-- Sends a piece of the response at once. The first piece begins with a head
-- (webserver.httpHeader ()), or gets one in front; it commits what the
-- script has written to the root so far. End with more = false and return "".
-- > webserver.sendPartial ("one, ")
-- > webserver.sendPartial ("two", false)
-- > return ""
-- = one, two
return system.verbs.builtins.webserver.sendPartial (...)
