-- Objects: classes by metatables, inheritance, operators, accessors, closures.
local function class (base)
	local c = {}
	c.__index = c
	return setmetatable (c, {__index = base, __call = function (_, ...)
		local o = setmetatable ({}, c)
		o:init (...)
		return o
	end})
end

local Shape = class ()
function Shape:init (name) self.name = name end
function Shape:area () return 0 end
function Shape:describe () return self.name .. " " .. self:area () end

local Rectangle = class (Shape)
function Rectangle:init (w, h)
	Shape.init (self, "rectangle")
	self.w, self.h = w, h
end
function Rectangle:area () return self.w * self.h end

local Square = class (Rectangle)
function Square:init (side)
	Rectangle.init (self, side, side)
	self.name = "square"
end

local Vector = {}
Vector.__index = Vector
local function vector (x, y) return setmetatable ({x = x, y = y}, Vector) end
Vector.__add = function (a, b) return vector (a.x + b.x, a.y + b.y) end
Vector.__sub = function (a, b) return vector (a.x - b.x, a.y - b.y) end
Vector.__mul = function (a, k) return vector (a.x * k, a.y * k) end
Vector.__unm = function (a) return vector (-a.x, -a.y) end
Vector.__eq = function (a, b) return a.x == b.x and a.y == b.y end
Vector.__lt = function (a, b) return a.x < b.x end
Vector.__le = function (a, b) return a.x <= b.x end
Vector.__concat = function (a, b) return tostring (a) .. tostring (b) end
Vector.__tostring = function (a) return "(" .. a.x .. ", " .. a.y .. ")" end

local function counter ()
	local n = 0
	return {
		add = function (by) n = n + by end,
		get = function () return n end,
	}
end

local function watched (t)
	local reads, writes = 0, 0
	return setmetatable ({}, {
		__index = function (_, k) reads = reads + 1 return t [k] end,
		__newindex = function (_, k, v) writes = writes + 1 t [k] = v end,
		__call = function () return reads, writes end,
	})
end

local total, described = 0, 0
for i = 1, 60000 do
	local shape = i % 2 == 0 and Square (i % 10) or Rectangle (i % 7, 3)
	total = total + shape:area ()
	if i % 10 == 0 then
		described = described + #shape:describe ()
	end
end

local sum, same, less = vector (0, 0), 0, 0
for i = 1, 30000 do
	local v = vector (i % 5, i % 3)
	sum = sum + v * 2 - -v
	if v == vector (1, 1) then same = same + 1 end
	if v < vector (3, 0) then less = less + 1 end
	if v <= vector (3, 0) then less = less + 1 end
end

local c = counter ()
for i = 1, 50000 do
	c.add (i % 3)
end
local w = watched {}
for i = 1, 30000 do
	w [i % 100] = (w [i % 100] or 0) + 1
end
local reads, writes = w ()
return table.concat ({total, described, sum .. "", same, less, c.get (), reads, writes}, " ")
