-- Frequencies of parts of a DNA sequence: substrings as keys of tables.
local seed = 42
local function random (most)
	seed = (seed * 3877 + 29573) % 139968
	return most * seed / 139968
end

local letters, pieces = {"a", "c", "g", "t"}, {}
for i = 1, 60000 do
	pieces [i] = letters [math.floor (random (4)) + 1]
end
local sequence = table.concat (pieces)

local function count (size)
	local counts = {}
	for i = 1, #sequence - size + 1 do
		local part = sequence:sub (i, i + size - 1)
		counts [part] = (counts [part] or 0) + 1
	end
	return counts
end

local out = {}
for size = 1, 2 do
	local counts, names = count (size), {}
	for name in pairs (counts) do
		names [#names + 1] = name
	end
	table.sort (names, function (a, b)
		if counts [a] == counts [b] then
			return a < b
		end
		return counts [a] > counts [b]
	end)
	for _, name in ipairs (names) do
		out [#out + 1] = string.format ("%s %.3f", name:upper (), counts [name] * 100 / (#sequence - size + 1))
	end
end
for _, part in ipairs {"ggt", "ggta", "ggtatt", "ggtattttaatt", "ggtattttaatttatagt"} do
	out [#out + 1] = (count (#part) [part] or 0) .. " " .. part:upper ()
end
return table.concat (out, "\n")
