-- httpd.addUser (name, password [, realm = "default"])
-- Adds a user. What is kept, at user.webserver.users, is a hash of the password,
-- from which nobody can tell it. The users are for httpd.validateUser: the web
-- server's own users are another thing.
-- > httpd.addUser ("Ada", "sesame")
-- > return user.webserver.users.default.Ada:match ("^%$argon2id%$")
-- = $argon2id$
local name, password, realm = ...
if type (name) ~= "string" or name == "" or name:find ("[:%c]") then
	error ("httpd.addUser wants a name, without colon and control characters", 0)
elseif type (password) ~= "string" or password == "" then
	error ("httpd.addUser wants a password", 0)
end
local cell = odb.address ("user.webserver.users", realm or "default", name)
if odb.defined (cell) then
	error ("httpd.addUser: there is a user " .. name .. " already; httpd.deleteUser takes a user away", 0)
end
odb.set (cell, hash.password (password))
