-- All ways to place nine queens: recursion and lists of booleans.
local n, solutions, nodes = 9, 0, 0
local columns, up, down, rows = {}, {}, {}, {}

local function place (row)
	if row > n then
		solutions = solutions + 1
		return
	end
	for c = 1, n do
		nodes = nodes + 1
		local u, d = row + c, row - c + n
		if not columns [c] and not up [u] and not down [d] then
			columns [c], up [u], down [d], rows [row] = true, true, true, c
			place (row + 1)
			columns [c], up [u], down [d] = false, false, false
		end
	end
end

for _ = 1, 5 do
	place (1)
end
return solutions .. " " .. nodes .. " " .. table.concat (rows, ",")
