-- httpd.getRealms ()
-- The names of the realms that have users, a line for each.
-- > httpd.addUser ("Ada", "sesame", "Members")
-- > return httpd.getRealms ()
-- = Members
local names = {}
for realm in pairs (user.webserver.users) do
	names [#names + 1] = realm
end
return table.concat (names, "\n")
