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
 show (xpcall (function ()
  tick (25)
  return {(math.min (0.5, 123456789) or 0), (({c = 0xFF, f = math.abs, ["b"] = 42, a = 3.75, t = {["b"] = 2.5e-3; a = 1.5; f = math.abs; t = setmetatable ({v = 0.1, w = "two words"}, M1); c = 2.5e-3; s = "tab\tq\"\\"; [1] = true; nil; [true] = 1; nil; 2}, s = setmetatable ({v = {a = 3.75, ["b"] = {-0.5, 1.5, 123456789, (m or 0), .25}, c = 10, t = "a", s = "line\nbreak", f = math.abs, [1] = true, nil, [true] = 1, nil, 2;}, w = "hello"}, M1),}).t or 0), ((setmetatable ({v = m, w = "abcabc"}, M1)).v or 0), (function (y, ...) tick () return y - 1000 + 0 end or 0)}
 end, function () end))
 return {f = math.abs, c = 1.5, s = type (""), a = (({1, 255, 7, 0x10, 0}) [ 42 ] or -1), ["b"] = ("5" + (-1) + 0), t = "\65\066\0677", [1] = true, ..., [true] = 1, nil, 2;}
end, ({f = math.abs; s = "hello"; a = 3.75; ["b"] = 1; c = 255; t = "abcabc"}).s)
-- comment
local even, odd function even (n) tick () if n == 0 then return true end return odd (n - 1) end function odd (n) tick () if n == 0 then return false end return even (n - 1) end show (even (5))
show ({c = 9007199254740992; s = (("two words"):gsub ("(%w)(%w)", "")); f = function (x, ...) tick () return x * 1e3 + 0 end; a = #("b"); ["b"] = (-1) % 0.5 + 0; t = " 7 "}, (setmetatable ({v = 1e3, w = "a"}, M1)), (setmetatable ({v = 123456789, w = "abcabc"}, M2)))
