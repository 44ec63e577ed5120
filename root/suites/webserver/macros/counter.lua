-- <!--#counter (name [, folder])-->
-- The next count of a page, with commas between thousands. Counts are kept
-- at user.webserver.counters, by website folder and name, so that virtual
-- hosts count apart; the folder of the request is taken when none is given.
local name, folder = ...
assert (name, "counter wants a name")
folder = folder or websiteFolder
if folder == "" then
	folder = "default"
end
local counters = user.webserver.counters
if not odb.defined (counters [folder]) then
	counters [folder] = {}
end
local counts = counters [folder]
local n = (counts [name] or 0) + 1
counts [name] = n
local text = tostring (n)
repeat
	local found
	text, found = text:gsub ("^(%d+)(%d%d%d)", "%1,%2")
until found == 0
return text
