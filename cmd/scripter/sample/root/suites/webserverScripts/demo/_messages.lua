-- _messages (): what the visitor is to be told once, as HTML.
local out = {}
for _, message in ipairs (flash) do
	out [#out + 1] = '<p role="status">' .. html.escape (message.text) .. "</p>\n"
end
return table.concat (out)
