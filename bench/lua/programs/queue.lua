-- A queue in a table, and a walk through a grid by its help.
local function newQueue ()
	return {first = 1, last = 0}
end

local function push (q, v)
	q.last = q.last + 1
	q [q.last] = v
end

local function pop (q)
	if q.first > q.last then
		return nil
	end
	local v = q [q.first]
	q [q.first] = nil
	q.first = q.first + 1
	return v
end

-- mostly empty
local q, sum = newQueue (), 0
for i = 1, 100000 do
	push (q, i)
	sum = sum + pop (q)
end
-- always a few
for i = 1, 10 do
	push (q, i)
end
for i = 1, 100000 do
	push (q, i)
	sum = sum + pop (q)
end
-- filled and drained
for _ = 1, 5 do
	for i = 1, 10000 do
		push (q, i)
	end
	for _ = 1, 10000 do
		sum = sum + pop (q)
	end
end

local size = 120
local distance, reached = {[1] = 0}, 0
local grid = newQueue ()
push (grid, 1)
while true do
	local cell = pop (grid)
	if not cell then
		break
	end
	reached = reached + 1
	local x, y = (cell - 1) % size, math.floor ((cell - 1) / size)
	for _, step in ipairs {{1, 0}, {-1, 0}, {0, 1}, {0, -1}} do
		local nx, ny = x + step [1], y + step [2]
		if nx >= 0 and nx < size and ny >= 0 and ny < size and (nx * 7 + ny * 3) % 11 ~= 0 then
			local next = ny * size + nx + 1
			if not distance [next] then
				distance [next] = distance [cell] + 1
				push (grid, next)
			end
		end
	end
end
local far = 0
for _, d in pairs (distance) do
	far = math.max (far, d)
end
return sum .. " " .. reached .. " " .. far
