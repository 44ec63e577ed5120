-- Metamethods may be anything that can be called; what cannot be called is an error.
local function callable (f) return setmetatable ({}, {__call = function (self, ...) return f (...) end}) end
local function count (...) return select ("#", ...) end
local mt = {}
for _, event in ipairs {"add", "sub", "mul", "div", "mod", "pow", "unm", "concat"} do
  mt ["__" .. event] = callable (function (...) return event .. count (...) end)
end
mt.__lt = callable (function (a, b) return a.n < b.n end)
mt.__eq = callable (function (a, b) return a.n == b.n and 1 end)
local function make (n) return setmetatable ({n = n}, mt) end
local a, b, c = make (1), make (2), make (1)
print (a + b, a - 1, 2 * a, a / "x", a % a, a ^ nil == nil, -a, a .. b, "x" .. a, a .. 1)
print (a < b, b < a, a <= b, b <= a, a > b, a >= b, a == b, a == c, a ~= c, a == 1)
mt.__le = callable (function (a, b) return nil end)
print (a <= b, b <= a, a >= b, not (a > b))

-- each event with what cannot be called
for _, value in ipairs {5, "f", true, {}} do
  local bad = {}
  for _, event in ipairs {"add", "sub", "mul", "div", "mod", "pow", "unm", "concat", "lt", "le", "eq"} do bad ["__" .. event] = value end
  local x, y = setmetatable ({}, bad), setmetatable ({}, bad)
  for i, f in ipairs {
    function () return x + 1 end, function () return 1 - x end, function () return x * y end, function () return x / y end,
    function () return x % 2 end, function () return x ^ 2 end, function () return -x end, function () return x .. y end,
    function () return x < y end, function () return x <= y end, function () return x == y end, function () return x > y end,
    function () return x ~= y end, function () local t = {x} return t [1] + x.y end,
  } do print (i, pcall (f)) end
end

-- which one is called, and with what
local function named (name) return setmetatable ({}, {__add = function (x, y) return name end}) end
print (named "left" + named "right", 1 + named "right", named "left" + "1", pcall (function () return {} + named "right" end))
print (pcall (function () return setmetatable ({}, {__add = false}) + named "right" end)) print (pcall (function () return setmetatable ({}, {__add = false}) + 1 end))
print (-setmetatable ({}, {__unm = function (...) return count (...) end}), rawequal ((function () local r; setmetatable ({}, {__unm = function (p, q) r = p == q end}); return r end) (), nil))

-- comparison needs the same metamethod on both sides
local f = function () return true end
local p, q = setmetatable ({}, {__eq = f, __lt = f}), setmetatable ({}, {__eq = f, __lt = function () return true end})
local r = setmetatable ({}, {__eq = f, __lt = f})
print (p == q, p == r, pcall (function () return p < q end))
print (pcall (function () return p < r end))
print (pcall (function () return p < 1 end))
print (pcall (function () return {} < {} end))
print (pcall (function () return nil <= 1 end))
print (pcall (function () return "a" < 1 end))
print (pcall (function () return print < print end))
print (p == 1, p ~= {}, ("a" < "b"), ("a" <= "a"), ("b" < "a"), "a\0b" < "a\0c", 0/0 == 0/0, 0/0 < 1, 1 <= 0/0)

-- the error of an operand names it
local t, s = {}, "abc"
print (pcall (function () return t.x + 1 end))
print (pcall (function () return 1 + t.x end))
print (pcall (function () return s + 1 end))
print (pcall (function () return 1 - s end))
print (pcall (function () return "1" + t end))
print (pcall (function () return -t.x end))
print (pcall (function () return -s end))
print (pcall (function () return t % 2 end))
print (pcall (function () return 2 % undefinedGlobal end))
print (-"2", "10" + 5, "0x10" * "2", 7 % "4", -"0x10" % 7)
local zero, minus = #"", -1
print (1 / (zero * minus), 1 / -zero, -zero == 0, 5.3 % 0.1, -4 % 3, 5 % -3)
