-- Many short-lived trees beside one that stays: allocation.
local function bottomUp (depth)
	if depth > 0 then
		depth = depth - 1
		return {bottomUp (depth), bottomUp (depth)}
	end
	return {}
end

local function count (tree)
	if tree [1] then
		return 1 + count (tree [1]) + count (tree [2])
	end
	return 1
end

local out = {}
local depth = 12
local long = bottomUp (depth)
for d = 4, depth, 4 do
	local n, sum = 2 ^ (depth - d + 4), 0
	for _ = 1, n do
		sum = sum + count (bottomUp (d))
	end
	out [#out + 1] = n .. " trees of depth " .. d .. ": " .. sum
end
out [#out + 1] = "long-lived: " .. count (long)
return table.concat (out, "\n")
