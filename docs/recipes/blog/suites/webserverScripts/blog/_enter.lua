-- POST /blog/login: logs in or out.
local sent = (...).argTable
if sent.out then
	users.logOut ()
	return {status = 303, headers = {Location = "/blog"}}
end
local name, why = users.logIn (sent.name or "", sent.password or "")
session.flash (name and "Welcome, " .. name .. "." or "Sorry: " .. why .. ".")
return {status = 303, headers = {Location = name and users.returnURL ("/blog") or url.to ("login", {to = users.returnURL ("/blog")})}}
