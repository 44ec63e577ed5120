-- webserver.util.odometer (count [, digits = 6])
-- A number as the picture of an odometer, in SVG.
-- > select (2, webserver.util.odometer (42, 5):gsub ("<text", ""))
-- = 5
local count, digits = ...
local shown = text.pad (tostring (count), digits or 6, "left", "0")
local width = 20 * #shown + 4
local picture = {
	'<svg xmlns="http://www.w3.org/2000/svg" width="', width, '" height="34" viewBox="0 0 ', width, ' 34" role="img" aria-label="',
	html.escape (count), '">\n<rect width="', width, '" height="34" rx="3" fill="#333"/>\n',
}
for i = 1, #shown do
	local left = 20 * i - 18
	picture [#picture + 1] = '<rect x="' .. left .. '" y="2" width="19" height="30" rx="2" fill="#111"/>'
		.. '<rect x="' .. left .. '" y="10" width="19" height="14" fill="#222"/>'
		.. '<text x="' .. left + 9.5 .. '" y="24" fill="#fff" font-family="monospace" font-size="20" text-anchor="middle">'
		.. html.escape (shown:sub (i, i)) .. "</text>\n"
end
picture [#picture + 1] = "</svg>\n"
return table.concat (picture)
