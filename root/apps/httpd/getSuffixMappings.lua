-- httpd.getSuffixMappings ()
-- The mime table as text: a line for each extension, the extension, a tab, its
-- MIME type, a tab, its action.
-- > httpd.getSuffixMappings ():match ("^[^\n]*"):gsub ("\t", " ") .. ""
-- = .fcgi text/html SCRIPTER
local lines = {}
for extension, row in pairs (user.webserver.mimeTable) do
	lines [#lines + 1] = extension .. "\t" .. (row.type or "") .. "\t" .. (row.action or "") .. "\n"
end
return table.concat (lines)
