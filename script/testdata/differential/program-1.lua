M1 = {
 __add = function (x, y) tick (30) return type (x) .. type (y) end,
 __sub = function (x, y) tick (30) return (type (x) == "table" and x.v or x) end,
 __div = function (x, y) tick (30) return setmetatable ({v = 1, w = "div"}, M1), 2 end,
 __mod = function (x, y) tick (30) return setmetatable ({v = 1, w = "mod"}, M1), 2 end,
 __pow = function (x, y) tick (30) return (type (x) == "table" and x.v or x) end,
 __concat = function (x, y) tick (30) return (type (x) == "table" and x.w or x) .. "|" .. (type (y) == "table" and y.w or y) end,
 __eq = function (x, y) tick (30) return true end,
 __lt = function (x, y) tick (30) return 1 end,
}
local M2 = {
 __add = function (x, y) tick (30) return (type (x) == "table" and x.v or x) + (type (y) == "table" and y.v or y) end,
 __mul = function (x, y) tick (30) return type (x) .. type (y) end,
 __pow = function (x, y) tick (30) return (type (x) == "table" and x.v or x) + (type (y) == "table" and y.v or y) end,
--[==[ ]] ]==]
 __unm = function (x, y) tick (30) return x.w end,
 __concat = function (x, y) tick (30) return (type (x) == "table" and x.w or x) .. "|" .. (type (y) == "table" and y.w or y) end,
 __le = function (x, y) tick (30) return nil end,
}
try (function (...)
 local function f (n) tick () if n < 2 then return n end return f (n - 1) + f (n - 2) end show (f (2))
 local m = (setmetatable ({v = math.max (-7, 10), w = "10"}, M1) < setmetatable ({v = 0xFF * 4 + 0, w = "b"}, M1))
 show (xpcall (function ()
  return ((({123456789, ("line\nbreak" or 0)}) [ 1e3 ] or ("83" - (setmetatable ({v = 0.1, w = ""}, M1)) + 0))) / nz ({(([[long]]):byte (3) or 0), (function (y, ...) tick () return y * 1 + 0 end or 0), ((M1 == {(setmetatable ({v = 0xFF, w = "a"}, M2) or 0)}) or 0), (("two words") / nz (42) + 0 or 0), (#(1000) or 0)}) + 0
 end, function (e) error (e) end))
 local co0 = coroutine.create (function (x, ...)
  tick (25)
  local e2 = coroutine.yield (#("\65\066\0677"), setmetatable ({v = x, w = "-3.5e1"}, M2))
  function F2 ()
   tick ()
   return cut ((("tab\tq\"\\"):sub (-3, 5)):lower ()), x
  end
  show (F2 ())
  return (x <= x), ('single'):sub (2, 3)
 end)
 show (coroutine.resume (co0, math.min (math.huge, 3.75), (setmetatable ({v = 3.75, w = "tab\tq\"\\"}, M1)).v))
 show (coroutine.resume (co0, math.floor (1) + 0, (({10}) [ math.huge ] or 123456789)))
 show (coroutine.resume (co0, 4 + 123456789 + 0, select ("#", {s = "10", t = "x y z", ["b"] = 0.5, f = math.abs, a = -1, c = 9007199254740992, [1] = true, ..., [true] = 1, nil, 2})))
 show (coroutine.resume (co0, (true and -0.5), #("tab\tq\"\\")))
end, setmetatable ({v = 0xFF, w = "a"}, M1))
show (select ("#", setmetatable ({v = 10 + 1e15 + 0, w = "äöü"}, M1), (not (1e3 ~= 0xFF) and (nil or 0xFF) or ("two words"):byte (2)), #({255}) * (0) + 0))
local e2 = {["b"] = (-1) / nz (1000) + 0, s = ("-3.5e1"):reverse (), t = 'single', a = (setmetatable ({v = 123456789, w = "a"}, M2)).v, c = 007, f = function (self, ...) tick () return self - 0.5 + 0 end;}
function e2:g (p0)
 tick ()
 return #(table.concat (({1.5, 2, 0.5, 0, 2147483648}), " ")), type (true);
end
--[[ long
comment ]]
show (e2:g (setmetatable ({v = 123456789, w = "hello"}, M2)))
show ((...))
try (function (...)
 G1 = math.ceil (('single'):byte (-2)) + 0
 show (G2)
 return ("b" .. (" 7 ") .. (2147483648) .. (setmetatable ({v = -7, w = "line\nbreak"}, M2))):sub (4, -1), e2.c * (1.5 * 1000 + 0) + 0
end, e2)
show (e2, (setmetatable ({v = 4, w = " 7 "}, M1)) .. ((""):reverse ()) .. (math.max (123456789, 3)), (#({3.75, 1000, 3.75, -7}) == ("40" - 1e3 + 0)))
