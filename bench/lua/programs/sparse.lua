-- Tables by record number: few keys, far apart, in no order, some deleted again.
local seed = 7
local function random (most)
	seed = (seed * 16807) % 2147483647
	return seed % most + 1
end

local records, order = {}, {}
for i = 1, 20000 do
	local number = 100000 + random (900000)
	if not records [number] then
		order [#order + 1] = number
	end
	records [number] = {id = number, amount = i % 97}
end
local total = 0
for round = 1, 5 do
	for i = round, #order, 3 do
		local r = records [order [i]]
		if r then
			total = total + r.amount
		end
	end
end
for i = 1, #order, 2 do
	records [order [i]] = nil
end
local left, sum = 0, 0
for number, r in pairs (records) do
	left = left + 1
	sum = (sum + number * r.amount) % 1000003
end

local years = {}
for i = 1, 100000 do
	local year = 1990 + random (40)
	years [year] = (years [year] or 0) + i % 5
end
local keys = {}
for year in pairs (years) do
	keys [#keys + 1] = year
end
table.sort (keys)

local small = 0
for i = 1, 10000 do -- many small tables with one large key
	local t = {}
	t [random (1000000)] = i
	t.name = "x"
	for k, v in pairs (t) do
		if k ~= "name" then
			small = small + v
		end
	end
end
return table.concat ({total, left, sum, #keys, years [keys [1]], small}, " ")
