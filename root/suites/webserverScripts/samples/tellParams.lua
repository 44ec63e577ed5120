-- /samples.tellParams.fcgi$y?x=1: what a script gets.
local params = ...

local function cell (value)
	if type (value) ~= "table" then
		return html.escape (tostring (value))
	end
	local rows = {}
	for name, item in odb.pairs (value) do
		rows [#rows + 1] = '<tr><th scope="row">' .. html.escape (tostring (name)) .. "</th><td>" .. cell (item) .. "</td></tr>\n"
	end
	return "<table><tbody>\n" .. table.concat (rows) .. "</tbody></table>\n"
end

return suites.webserverScripts.samples._page ("Parameters", cell (params))
