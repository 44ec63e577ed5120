-- httpd.setActions (text)
-- Sets the whole action table, from text as httpd.getActions gives it. The
-- web server has a table of its own, which this does not change.
-- > httpd.setActions (httpd.getActions () .. "SHOUT\t/cgi-bin/Scripter.acgi\n")
-- > return user.webserver.actionTable.SHOUT
-- = /cgi-bin/Scripter.acgi
local actions, count = {}, 0
for number, line in ipairs (text.lines ((...))) do
	local name, handler = line:match ("^([%w_-]+)\t(/[^\t%c]*)$")
	if not name then
		error ("httpd.setActions: line " .. number .. " is not a name, a tab and the path of a handler: " .. line, 0)
	elseif actions [name:upper ()] then
		error ("httpd.setActions: line " .. number .. ": " .. name .. " is there twice", 0)
	end
	actions [name:upper ()] = {name, handler}
	count = count + 1
end
if count == 0 then
	error ("httpd.setActions: a table without actions would answer nothing", 0)
end
local rows = {}
for _, row in pairs (actions) do
	rows [row [1]] = row [2]
end
user.webserver.actionTable = rows
