-- /samples.form.fcgi: GET shows a form, POST shows what came, escaped.
local params = ...
local page = { "<html><head><title>Form</title></head><body>\n" }
local function add (text)
	page [#page + 1] = text
end

if params.method == "POST" then
	add ("<h1>What came</h1>\n<dl>\n")
	local names = {}
	for name in pairs (params.fields) do
		names [#names + 1] = name
	end
	table.sort (names)
	for _, name in ipairs (names) do
		local value = table.concat (params.fields [name], ", ")
		add ("<dt>" .. html.escape (name) .. "</dt><dd>" .. html.escape (value) .. "</dd>\n")
	end
	add ("</dl>\n<p><a href=\"/samples.form.fcgi\">again</a></p>\n")
else
	add ([[
<h1>A form</h1>
<form method="post" action="/samples.form.fcgi">
<p><label>Name <input name="name"></label></p>
<p><label>Message <textarea name="message" rows="4" cols="40"></textarea></label></p>
<p><button>Send</button></p>
</form>
]])
end
add ("</body></html>\n")
return table.concat (page)
