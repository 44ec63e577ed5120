-- Sorting: table.sort with a comparison, and a quicksort and heap in Lua.
local seed = 3
local function random (most)
	seed = (seed * 16807) % 2147483647
	return seed % most
end

local people = {}
for i = 1, 12000 do
	people [i] = {name = "n" .. random (3000), age = random (90), id = i}
end
table.sort (people, function (a, b)
	if a.age ~= b.age then
		return a.age < b.age
	elseif a.name ~= b.name then
		return a.name < b.name
	end
	return a.id < b.id
end)
local sum = 0
for i, p in ipairs (people) do
	sum = (sum * 31 + p.id * i) % 1000003
end

local function quicksort (t, from, to)
	while from < to do
		local pivot, i, j = t [math.floor ((from + to) / 2)], from, to
		while i <= j do
			while t [i] < pivot do
				i = i + 1
			end
			while pivot < t [j] do
				j = j - 1
			end
			if i <= j then
				t [i], t [j] = t [j], t [i]
				i, j = i + 1, j - 1
			end
		end
		if j - from < to - i then
			quicksort (t, from, j)
			from = i
		else
			quicksort (t, i, to)
			to = j
		end
	end
end

local numbers = {}
for i = 1, 30000 do
	numbers [i] = random (100000)
end
quicksort (numbers, 1, #numbers)
for i = 2, #numbers do
	assert (numbers [i - 1] <= numbers [i])
end

local heap = {}
local function pushHeap (v)
	local i = #heap + 1
	while i > 1 do
		local up = math.floor (i / 2)
		if heap [up] <= v then
			break
		end
		heap [i] = heap [up]
		i = up
	end
	heap [i] = v
end

local function popHeap ()
	local top, last, i = heap [1], table.remove (heap), 1
	local n = #heap
	if n == 0 then
		return top
	end
	while true do
		local child = i * 2
		if child > n then
			break
		end
		if child < n and heap [child + 1] < heap [child] then
			child = child + 1
		end
		if last <= heap [child] then
			break
		end
		heap [i] = heap [child]
		i = child
	end
	heap [i] = last
	return top
end

for _ = 1, 10000 do
	pushHeap (random (50000))
end
local check = 0
for i = 1, 10000 do
	check = (check + popHeap () * i) % 1000003
end

local words = {}
for i = 1, 8000 do
	words [i] = "word" .. random (100000)
end
table.sort (words)
return table.concat ({sum, numbers [1], numbers [15000], numbers [30000], check, words [1], words [8000]}, " ")
