-- /samples.tellParams.fcgi$y?x=1: what a script gets.
local params = ...

local function cell (value)
	if type (value) ~= "table" then
		return html.escape (tostring (value))
	end
	local names = {}
	for name in pairs (value) do
		names [#names + 1] = name
	end
	table.sort (names, function (a, b) return tostring (a) < tostring (b) end)
	local rows = {}
	for _, name in ipairs (names) do
		rows [#rows + 1] = "<tr><th align=left>" .. html.escape (tostring (name)) .. "</th><td>" .. cell (value [name]) .. "</td></tr>\n"
	end
	return "<table border=1>\n" .. table.concat (rows) .. "</table>\n"
end

return "<html><head><title>Parameters</title></head><body>\n<h1>Parameters</h1>\n" .. cell (params) .. "</body></html>\n"
