local M1 = {
 __add = function (x, y) tick (30) return "add" end,
 __sub = function (x, y) tick (30) return nil end,
 __mul = function (x, y) tick (30) return "mul" end,
 __div = function (x, y) tick (30) return nil end,
 __pow = function (x, y) tick (30) return "pow" end,
 __unm = function (x, y) tick (30) return x.w end,
 __concat = function (x, y) tick (30) return (type (x) == "table" and x.w or x) .. "|" .. (type (y) == "table" and y.w or y) end,
 __lt = function (x, y) tick (30) return x.w < y.w end,
 __call = function (self, ...) tick (30) return ... end,
 __tostring = function (x) tick (30) return x.w end,
}
M2 = {
 __sub = function (x, y) tick (30) return type (x) .. type (y) end,
 __mod = function (x, y) tick (30) return (type (x) == "table" and x.v or x) + (type (y) == "table" and y.v or y) end,
--[==[ ]] ]==]
 __pow = function (x, y) tick (30) return x end,
 __unm = function (x, y) tick (30) return x end,
 __concat = function (x, y) tick (30) return (type (x) == "table" and x.w or x) .. "|" .. (type (y) == "table" and y.w or y) end,
 __eq = function (x, y) tick (30) return true end,
 __lt = function (x, y) tick (30) return x.v < y.v end,
 __call = function (self, ...) tick (30) return select ("#", ...) end,
}
try (function (...)
 local m = (setmetatable ({v = math.max (-7, 10), w = "10"}, M1) < setmetatable ({v = 0xFF * 4 + 0, w = "b"}, M1))
 local b = {((select ("#", ...)) or 0), (math.min (0.5, 123456789) or 0), (math.floor (65536) + 0 or 0), (#({-0.5, 3.75, -7, 3, -0.5}) or 0)}
end, (("x y z"):gsub ("%a", function (x) return x:upper () end)), ({c = -7; s = "line\nbreak"; a = 42; ["b"] = 0xFF; f = function (y, ...) tick () return y + 1e3 + 0 end; t = "-3.5e1";}).f (1e15), ("" > "a"))
try (function (...)
 local function g (a, b) while b ~= 0 do tick () a, b = b, a % b end return a end show (g (5 * 6, 18))
 local function m1 (p0, p1, p2, ...)
  tick ()
  return cut (((([[long]]):gsub ("b*", {a = "A", b = 2, c = false}))):reverse ()), (setmetatable ({v = p2, w = " 7 "}, M1)) .. p2 .. ("two words");
 end
 show (m1 ((nil or 2.5e-3), {1.5, 123456789, 0}, (1 and 42)))
 local l2 = ((#({(math.huge or 0)})) - (select ("#", setmetatable ({v = 1.5, w = ""}, M1), {c = 1e3; t = " 7 "; ["b"] = 1; a = 42; f = function (y, ...) tick () return y - 1e3 + 0 end; s = "hello";}, setmetatable ({v = 007, w = [==[ ]] ]=] ]==]}, M1))) + 0) / nz ((setmetatable ({v = 9007199254740992, w = [[long]]}, M2)).v) + 0
 for k = "1", 2 do
  tick ()
  local co2 = coroutine.create (function (x, ...)
   tick (25)
-- comment
   show ((...))
   local i = setmetatable ({v = l2, w = "-3.5e1"}, M1)
   return i.v, l2
--[[ long
comment ]]
  end)
  show (coroutine.resume (co2))
  show (coroutine.status (co2))
  show (coroutine.resume (co2))
  show ({((select ("#", ...)) or 0), (l2 or 0), (l2 or 0)})
 end
end, setmetatable ({v = 255, w = "äöü"}, M2), type (1 == 1))
show (not (setmetatable ({v = math.huge, w = "line\nbreak"}, M2) ~= setmetatable ({v = 42, w = "abcabc"}, M2)), (math.max (4, 1000)) % (#("x y z")) + 0, ({t = "\65\066\0677"; ["b"] = 0; f = function (y, ...) tick () return y * 1000 + 0 end; c = 2147483648; a = 0.5; s = [==[ ]] ]=] ]==]; [1] = true; ...; [true] = 1; nil; 2,}).s)
