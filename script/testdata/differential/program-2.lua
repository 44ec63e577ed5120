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
  return ((({123456789, ("line\nbreak" or 0)}) [ 1e3 ] or ("83" - (setmetatable ({v = 0.1, w = ""}, M1)) + 0))) / nz ({(([[long]]):byte (3) or 0), (function (y, ...) tick () return y * 1 + 0 end or 0), ((M1 == {(setmetatable ({v = 0xFF, w = "a"}, M2) or 0)}) or 0), (("two words") / nz (42) + 0 or 0), (#(1000) or 0)}) + 0
 end, function (e) error (e) end))
end, ("a"):sub (4, -1))
try (function (...)
 do return {a = 7 % 1e3 + 0, s = ("10"):upper (), c = 1/0, ["b"] = 0xFF % 0 + 0, f = function (self, ...) tick () return self * 42 + 0 end, t = "two words", [1] = true, ..., [true] = 1, nil, 2,} end
end, 3 * 3.75 + 0, -1000 + 0, 2.5e-3 + 0.1 + 0)
show ((select ("#", ...)), ("-6" % ("hello"):byte (2) + 0), {((1 == 1 and 0.5 or 9007199254740992) or 0)})
