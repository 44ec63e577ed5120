-- httpd.setSuffixMappings (text)
-- Sets the whole mime table, from text as httpd.getSuffixMappings gives it.
-- The web server has a table of its own, which this does not change.
-- > httpd.setSuffixMappings (httpd.getSuffixMappings () .. ".loud\ttext/plain\tMACRO\n")
-- > return user.webserver.mimeTable [".loud"].action
-- = MACRO
local webserver = user.webserver
local rows, seen, count = {}, {}, 0
for number, line in ipairs (text.lines ((...))) do
	local place = "httpd.setSuffixMappings: line " .. number
	local extension, kind, action = line:match ("^(%.[^%s/]+)\t([%w.+-]+/[%w.+-]+)\t([%w_-]*)$")
	if not extension then
		error (place .. " is not an extension, a tab, a MIME type, a tab and an action: " .. line, 0)
	elseif seen [extension:lower ()] then
		error (place .. ": " .. extension .. " is there twice", 0)
	elseif action ~= "" and not webserver.actionTable [action] and not webserver.actions [action] then
		error (place .. ": there is no action " .. action, 0)
	end
	seen [extension:lower ()] = true
	rows [extension] = {type = kind, action = action}
	count = count + 1
end
if count == 0 then
	error ("httpd.setSuffixMappings: a table without extensions would answer nothing", 0)
end
webserver.mimeTable = rows
