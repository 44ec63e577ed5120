-- Pages built of strings: concatenation, format, table.concat, upper, rep, byte.
local out, length, sum = {}, 0, 0
for page = 1, 40 do
	out = {"<table>\n"}
	for row = 1, 1200 do
		local class = row % 2 == 0 and "even" or "odd"
		out [#out + 1] = "<tr class='" .. class .. "'><td>" .. row .. "</td><td>" .. row * page / 4 .. "</td></tr>\n"
		out [#out + 1] = string.format ("<!-- %5d %-8s %08.3f %x -->\n", row, class, row / page, row)
	end
	out [#out + 1] = "</table>\n"
	local html = table.concat (out)
	length = length + #html
	for i = 1, #html, 11 do
		sum = (sum + html:byte (i) * i) % 1000003
	end
end
local line = ""
for i = 1, 3000 do
	line = line .. i % 10
end
for _ = 1, 200 do
	length = length + #line:upper ():lower ():reverse () + #("ab"):rep (50)
end
return length .. " " .. sum .. " " .. #line
