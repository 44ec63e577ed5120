-- Dictionaries: words counted, a cache that forgets, sets that are drained.
local seed = 11
local function random (most)
	seed = (seed * 16807) % 2147483647
	return seed % most + 1
end

local syllables, text = {"ba", "ko", "li", "mu", "ne", "ra", "si", "to"}, {}
for i = 1, 20000 do
	text [i] = syllables [random (8)] .. syllables [random (8)] .. syllables [random (8)] .. (random (4) == 1 and "." or "")
end
text = table.concat (text, " ")
local counts, different = {}, 0
for word in text:gmatch ("%a+") do
	if not counts [word] then
		different = different + 1
	end
	counts [word] = (counts [word] or 0) + 1
end

local set, drained = {}, 0
for i = 1, 20000 do
	set ["key" .. i] = i
end
while true do -- takes whatever comes first
	local k, v = next (set)
	if not k then
		break
	end
	set [k] = nil
	drained = drained + v
end

local cache, order, hits = {}, {}, 0
local first, last = 1, 0
for _ = 1, 40000 do
	local key = "page" .. random (400) * random (5)
	if cache [key] then
		hits = hits + 1
	else
		cache [key] = true
		last = last + 1
		order [last] = key
		if last - first >= 300 then
			cache [order [first]] = nil
			order [first] = nil
			first = first + 1
		end
	end
end
local kept = 0
for _ in pairs (cache) do
	kept = kept + 1
end
return table.concat ({different, counts.bakoli, drained, hits, kept, last}, " ")
