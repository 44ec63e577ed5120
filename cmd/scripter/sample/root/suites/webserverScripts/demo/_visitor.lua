-- local visitor = require "suites.webserverScripts.demo._visitor"
-- Who sends a request: a random text in a cookie, the secret, tells it. The tokens of forms are made from it, and
-- a session lies in the root under its hash: nobody can log in with what the root holds.
local visitor = {}
local sessions = "system.temp.demo.sessions" -- the root keeps no history of system.temp
local hours = 8
local secret -- of this request

local function setSecret (params, value, expires)
	local https = params.cgi.HTTPS == "on" or params.cgi.REQUEST_SCHEME == "https"
	webserver.util.setCookie (params, "demo", value, "", expires, "/", https, true, "Lax")
	secret = value
end

local function secretOf (params)
	local sent = params.cookies.demo or ""
	if not secret and #sent == 43 and sent:find ("^[%w_-]+$") then
		secret = sent
	elseif not secret then
		setSecret (params, random.token (32))
	end
	return secret
end

local function session (params)
	return odb.address (sessions, hash.sha256 (secretOf (params)))
end

-- token (params): a hidden field for a form. No other site can know its value.
function visitor.token (params)
	return '<input type="hidden" name="token" value="' .. hash.hmac (secretOf (params), "form") .. '">\n'
end

-- sent (params): whether this visitor has posted a form with his token.
function visitor.sent (params)
	return params.method == "POST"
		and hash.equal (params.argTable.token or "", hash.hmac (secretOf (params), "form"))
end

visitor.notSent = "This form was not sent from this page, or your browser keeps no cookies. Please send it again."

-- user (params): the name of a visitor who has logged in, else nil.
function visitor.user (params)
	local row = odb.get (session (params))
	return row and row.ends > clock.now () and row.name or nil
end

-- logIn (params, name): begins a session, with a new secret: somebody else may know the old one.
function visitor.logIn (params, name)
	odb.delete (session (params))
	local now = clock.now ()
	for other, row in pairs (odb.get (sessions, {})) do
		if row.ends < now then
			odb.delete (odb.address (sessions, other))
		end
	end
	setSecret (params, random.token (32))
	odb.set (session (params), {name = name, ends = now + hours * 3600})
end

-- logOut (params): ends the session, in the root and in the browser.
function visitor.logOut (params)
	odb.delete (session (params))
	setSecret (params, "", odb.date (0))
end

return visitor
