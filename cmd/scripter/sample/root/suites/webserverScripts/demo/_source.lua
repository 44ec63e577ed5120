-- _source (name, …): the sources of scripts and pages of the demo as HTML, escaped, with numbered lines. The
-- first one is open, the others can be opened.
local keywords = {}
for word in ("and break do else elseif end false for function if in local nil not or repeat return then true "
	.. "until while"):gmatch ("%a+") do
	keywords [word] = true
end

-- The end of the piece of Lua that begins at a place, and its class, nil for plain text.
local function luaPiece (source, from)
	local first, two = source:sub (from, from), source:sub (from, from + 1)
	if two == "--" then
		return (source:find ("\n", from, true) or #source + 1) - 1, "comment"
	elseif two == "[[" then
		return select (2, source:find ("]]", from, true)) or #source, "string"
	elseif first == '"' or first == "'" then
		local i = from + 1
		while i < #source and source:sub (i, i) ~= first do
			i = i + (source:sub (i, i) == "\\" and 2 or 1)
		end
		return i, "string"
	elseif first:find ("[%a_]") then
		local _, last = source:find ("^[%w_]+", from)
		return last, keywords [source:sub (from, last)] and "keyword" or nil
	end
	return select (2, source:find ("^[^%a_%-%[\"']+", from)) or from
end

-- The same for a page: its markers stand out.
local function pagePiece (source, from)
	local marker = source:find ("<!%-%-#", from)
	if marker == from then
		return select (2, source:find ("-->", from, true)) or #source, "marker"
	end
	return (marker or #source + 1) - 1
end

-- The source as HTML, a list of its lines. A piece of several lines is marked in each of them.
local function lines (source, piece)
	local out, from = {}, 1
	while from <= #source do
		local last, class = piece (source, from)
		local shown = html.escape (source:sub (from, last))
		if class then
			local open = '<span class="' .. class .. '">'
			shown = open .. shown:gsub ("\n", "</span>\n" .. open) .. "</span>"
		end
		out [#out + 1], from = shown, last + 1
	end
	return text.lines (table.concat (out))
end

-- The web page for people, if there is somebody who may use it.
local web = ""
for _, role in pairs (odb.get ("user.webserver.roles", {})) do
	if role == "owner" then
		web = webserver.getPref ("adminPath") or ""
	end
end

local out = {'<section class="source" id="source">\n<h2>Source</h2>\n'}
for i, name in ipairs {...} do
	local address = odb.address ("suites.webserverScripts.demo", name)
	local piece = odb.kind (address) == "script" and luaPiece or pagePiece
	local path = html.escape (tostring (address))
	out [#out + 1] = "<details" .. (i == 1 and " open" or "") .. ">\n<summary><code>" .. path .. "</code></summary>\n"
		.. '<pre tabindex="0" aria-label="Source of ' .. path .. '"><code><span class="line">'
		.. table.concat (lines (odb.text (odb.get (address)), piece), '</span>\n<span class="line">')
		.. "</span></code></pre>\n"
		.. (web ~= "" and '<p><a href="' .. html.escape (web) .. "at/" .. path .. '">Edit it in a browser</a></p>\n' or "")
		.. "</details>\n"
end
out [#out + 1] = "</section>\n"
return table.concat (out)
