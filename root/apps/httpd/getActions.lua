-- httpd.getActions ()
-- The action table as text: a line for each action, its name, a tab, the path
-- of its handler.
-- > httpd.getActions ():match ("^[^\n]*"):gsub ("\t", " ") .. ""
-- = MACRO /cgi-bin/Scripter.acgi
local lines = {}
for name, handler in pairs (user.webserver.actionTable) do
	lines [#lines + 1] = name .. "\t" .. handler .. "\n"
end
return table.concat (lines)
