-- httpd.validateUser (name, password [, realm = "default"])
-- Whether there is such a user with this password. A name that is not known
-- takes as long as one that is.
-- > httpd.addUser ("Ada", "sesame")
-- > return httpd.validateUser ("Ada", "sesame")
-- = true
local name, given, realm = ...
local kept = ""
if type (name) == "string" and name ~= "" then
	kept = odb.get (odb.address ("user.webserver.users", realm or "default", name), "")
end
return hash.checkPassword (kept, given or "")
