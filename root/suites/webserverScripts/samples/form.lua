-- /samples.form.fcgi: GET shows a form, POST shows what came, escaped.
local params = ...
local page = suites.webserverScripts.samples._page
if params.method ~= "POST" then
	return page ("A form", [[
<form class="box" method="post" action="/samples.form.fcgi">
]] .. form.token () .. [[

<label for="name">Name</label>
<input id="name" name="name">
<label for="message">Message</label>
<textarea id="message" name="message" rows="4" cols="40"></textarea>
<button>Send</button>
</form>
]])
end

local names = {}
for name in pairs (params.fields) do
	names [#names + 1] = name
end
table.sort (names)
local list = {}
for _, name in ipairs (names) do
	local value = table.concat (params.fields [name], ", ")
	list [#list + 1] = "<dt>" .. html.escape (name) .. "</dt><dd>" .. html.escape (value) .. "</dd>\n"
end
return page ("What came", "<dl>\n" .. table.concat (list) .. "</dl>\n<p><a href=\"/samples.form.fcgi\">Again</a></p>\n")
