-- webserver.util.requestAuth (params, realm)
-- The response that makes a browser ask for name and password: return it.
-- > webserver.util.requestAuth (params, "Members"):match ("WWW.Authenticate: [^\r]*")
-- = WWW-Authenticate: Basic realm="Members"
local params, realm = ...
return webserver.httpHeader ("401 UNAUTHORIZED", realm)
	.. webserver.util.buildErrorPage ("401 Unauthorized", "This page requires a name and a password.")
