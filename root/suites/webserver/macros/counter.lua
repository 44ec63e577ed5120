-- counter (name [, folder])
-- The next count of a page, with commas between thousands. Counts are kept
-- at user.webserver.counters, by website folder and name, so that virtual
-- hosts count apart; the folder of the request is taken when none is given.
-- > counter ("example", "site") .. " " .. counter ("example", "site")
-- = 1 2
local name, folder = ...
assert (name ~= nil and name ~= "", "counter wants a name")
if folder == nil then
	folder = websiteFolder
end
if folder == "" then
	folder = "default"
end
local cell = odb.address ("user.webserver.counters", tostring (folder), tostring (name))
local count = odb.get (cell, 0) + 1
odb.set (cell, count)
return system.verbs.builtins.text.addCommas (count)
