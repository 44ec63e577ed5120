-- httpd.deleteUser (name [, realm = "default"])
-- Takes a user away, and the realm with the last one.
-- > httpd.addUser ("Ada", "sesame")
-- > httpd.deleteUser ("Ada")
-- > return httpd.validateUser ("Ada", "sesame")
-- = false
local name, realm = ...
local users = odb.address ("user.webserver.users", realm or "default")
if type (name) ~= "string" or name == "" or not odb.delete (odb.address (users, name)) then
	error ("httpd.deleteUser: there is no user " .. tostring (name) .. " in the realm " .. tostring (realm or "default"), 0)
end
if odb.size (users) == 0 then
	odb.delete (users)
end
