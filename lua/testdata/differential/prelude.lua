-- What generated programs use: output that says the same on every machine, and
-- an end to every program. It is run before each of them, by both sides.

local fuel = 4000

-- Every loop and function of a program calls tick, and so comes to an end.
-- Metamethods and coroutines cost more: they may nest 200 deep at most.
function tick (cost)
	fuel = fuel - (cost or 1)
	if fuel < 0 then
		error ("out of fuel", 0)
	end
end

-- Strings that loops make longer and longer are cut.
function cut (v)
	if type (v) == "string" and #v > 120 then
		return v:sub (1, 120)
	end
	return v
end

local nodes -- that show has shown: tables may hold one another many times
local function text (v, depth)
	nodes = nodes + 1
	if nodes > 300 then
		return "..."
	end
	local kind = type (v)
	if kind == "string" then
		return string.format ("%q", v)
	elseif kind == "number" then
		return v ~= v and "nan" or v == 0 and "0" or tostring (v) -- see arithmetic and -0 in the list of departures
	elseif kind == "table" then
		local keys, n = {}, 0
		for k in next, v do
			n = n + 1
			if (type (k) == "string" or type (k) == "number") and depth < 3 then
				keys [#keys + 1] = k
			end
		end
		table.sort (keys, function (a, b)
			if type (a) ~= type (b) then
				return type (a) == "number"
			end
			return a < b
		end)
		for i, k in ipairs (keys) do
			keys [i] = "[" .. text (k, depth) .. "]=" .. text (rawget (v, k), depth + 1)
		end
		return "{" .. n .. ": " .. table.concat (keys, " ") .. "}"
	elseif kind == "nil" or kind == "boolean" then
		return tostring (v)
	end
	return kind
end

-- show prints values in a form of its own.
function show (...)
	local out = {}
	nodes = 0
	for i = 1, select ("#", ...) do
		out [i] = text ((select (i, ...)), 0)
	end
	print (table.concat (out, " "))
end

-- try shows what becomes of a protected call. PUC Lua nests 200 of them.
local level = 0
function try (...)
	if level == 40 then
		return show ("too deep")
	end
	level = level + 1
	show (pcall (...))
	level = level - 1
end

-- keys returns the keys of a table in an order that does not depend on how the
-- table is stored.
function keys (t)
	local out = {}
	for k in pairs (t) do
		if type (k) == "string" or type (k) == "number" then
			out [#out + 1] = k
		end
	end
	table.sort (out, function (a, b)
		if type (a) ~= type (b) then
			return type (a) == "number"
		end
		return a < b
	end)
	return ipairs (out)
end

-- round keeps what different C libraries agree on.
function round (x)
	if x ~= x or x == math.huge or x == -math.huge then
		return 0
	end
	return type (x) == "number" and string.format ("%.10g", x) or x
end

-- nz makes a divisor of a number.
function nz (x)
	if x == 0 then
		return 1
	end
	return x
end
