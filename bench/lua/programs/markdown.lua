-- Markdown to HTML: lines, gsub with functions and tables, string building.
local entities = {["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;"}

local function span (s)
	s = s:gsub ("[&<>]", entities)
	s = s:gsub ("`([^`]+)`", function (code) return "<code>" .. code .. "</code>" end)
	s = s:gsub ("%*%*(.-)%*%*", "<strong>%1</strong>")
	s = s:gsub ("%*(.-)%*", "<em>%1</em>")
	s = s:gsub ("%[(.-)%]%((.-)%)", function (text, target)
		return '<a href="' .. target:gsub ('"', "&quot;") .. '">' .. text .. "</a>"
	end)
	return s
end

local function convert (source)
	local out, paragraph, inList, inCode = {}, {}, false, false
	local function emit (...)
		for i = 1, select ("#", ...) do
			out [#out + 1] = (select (i, ...))
		end
		out [#out + 1] = "\n"
	end
	local function close ()
		if #paragraph > 0 then
			emit ("<p>", span (table.concat (paragraph, " ")), "</p>")
			paragraph = {}
		end
		if inList then
			emit ("</ul>")
			inList = false
		end
	end
	for line in (source .. "\n"):gmatch ("(.-)\n") do
		local marks, title = line:match ("^(#+)%s+(.*)$")
		local item = line:match ("^[-*]%s+(.*)$")
		if inCode then
			if line:find ("^```") then
				emit ("</pre>")
				inCode = false
			else
				emit ((line:gsub ("[&<>]", entities)))
			end
		elseif line:find ("^```") then
			close ()
			emit ("<pre>")
			inCode = true
		elseif marks then
			close ()
			emit ("<h", #marks, ">", span (title), "</h", #marks, ">")
		elseif item then
			if not inList then
				close ()
				emit ("<ul>")
				inList = true
			end
			emit ("<li>", span (item), "</li>")
		elseif line:find ("^%s*$") then
			close ()
		else
			paragraph [#paragraph + 1] = line
		end
	end
	close ()
	return table.concat (out)
end

local page = {}
for i = 1, 60 do
	page [#page + 1] = ("#"):rep (i % 3 + 1) .. " Chapter " .. i .. ": this & that"
	page [#page + 1] = ""
	page [#page + 1] = "A paragraph with *emphasis*, **strength**, `code < " .. i .. "` and"
	page [#page + 1] = "a [link " .. i .. "](http://example.com/" .. i .. '?a="b"&c) over two lines.'
	page [#page + 1] = ""
	page [#page + 1] = "- first *item*\n- second **item**\n- third `item`"
	page [#page + 1] = ""
	page [#page + 1] = "```\nif a < b && c > d then\n```"
end
local source = table.concat (page, "\n")
local sum, length = 0, 0
for _ = 1, 60 do
	local html = convert (source)
	length = length + #html
	for i = 1, #html, 97 do
		sum = (sum * 33 + html:byte (i)) % 65521
	end
end
return length .. " " .. sum
