local M1 = {
 __add = function (x, y) tick (30) return (type (x) == "table" and x.v or x) + (type (y) == "table" and y.v or y) end,
 __sub = function (x, y) tick (30) return x end,
 __div = function (x, y) tick (30) return "div" end,
 __mod = function (x, y) tick (30) return nil end,
 __unm = function (x, y) tick (30) return x end,
 __lt = function (x, y) tick (30) return x.w < y.w end,
 __le = function (x, y) tick (30) return x.v <= y.v end,
 __call = function (self, ...) tick (30) return select ("#", ...) end,
 __index = function (t, k) tick (30) return k end,
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
 local h = (setmetatable ({v = math.max (-7, 1/0), w = "tab\tq\"\\"}, M1) > setmetatable ({v = 1.5 + 0 + 0, w = "-3.5e1"}, M1))
 local h, i = #(("tab\tq\"\\"):upper ()), ({["b"] = -- why
3.75; c = {-7, 123456789, (0.1 or 0)}; t = "line\nbreak"; s = [==[ ]] ]=] ]==]; a = 0.1; f = math.abs}).c
 local function h (p0)
  tick ()
  i, i, i = cut (i), cut (-i + 0), cut (i)
  return cut (p0), (false)

 end
 show (h ((nil or {(i or 0), (i or 0), (i or 0), (i or 0)})))
end, ("abcabc"):rep (3), (1 == 1 and {-1, 3, (function (self, ...) tick () return self * 0 + 0 end or 0)} or --[[ two
lines ]] {65536}))
for i = 1, #({1e3, (1/0 or 0), 1, (-0.5 or 0), 9007199254740992}) do
 tick ()
 local function g (a, b) while b ~= 0 do tick () a, b = b, a % b end return a end show (g (9 * 6, 18))
 local function d (p0)
  tick ()
  local m = (((false and setmetatable ({v = i, w = p0}, M2) or {s = p0, ["b"] = i, t = "", a = i, c = i, f = math.abs}) or (nil or --[[ two
lines ]] setmetatable ({v = p0, w = p0}, M2))) == setmetatable ({v = i, w = p0}, M1))
  local function b2 (p0)
   tick ()
   local co2 = coroutine.create (function (x, ...)
    tick (25)
    local d2 = coroutine.yield (i, (p0:gsub ("(%w)(%w)", "")))
    local b1 = coroutine.yield (i, d2)
    local k2 = x
    local b = coroutine.yield (b1)
    G1 = --[[ here ]] tostring ("tab\tq\"\\")
    show (_G.G1)
    return not setmetatable ({v = x, w = function (self, ...) tick () return self - 255 + 0 end}, M1), setmetatable ({v = function (x, y) tick () return y, x end, w = setmetatable ({v = b, w = p0}, M2)}, M1)
   end)
   show (coroutine.resume (co2, M2, i))
   if ((i == i)) then
   elseif ({65536, (m or 0), (p0 or 0), (i or 0), (i or 0)} == p0) then
   else

    G1, i, G1 = cut (p0:rep (2)), cut (i), cut ({s = p0; c = i; ["b"] = i; f = function (self, ...) tick () return self - 3.75 + 0 end; a = 1.5; t = p0;})
   end
   local co1 = coroutine.wrap (function (x, ...)
    tick (25)
    local f2 = coroutine.yield (setmetatable ({v = x, w = p0}, M1), m)
    G2 = tostring (0xFF)
    show (G2)
    local b = coroutine.yield ((not nil and math.max or m), i + p0 + 0, x)
    show (x - (p0:byte (-2)) + 0, x, (m and {t = p0, ["b"] = b, a = b, c = 255, s = setmetatable ({v = {c = i; t = p0; a = {({(i or 0), (x or 0)} or 0), (i or 0)}; f = function (self, ...) tick () return self - 1 + 0 end; s = p0; ["b"] = i,}, w = p0}, M2), f = math.abs,} or {f = math.abs; a = (not nil and setmetatable ({v = f2, w = p0}, M1)); ["b"] = f2; c = x; t = p0; s = p0; [1] = true; ...; [true] = 1; nil; 2}))
    local k = coroutine.yield ({["b"] = x, s = m, f = math.abs, a = 3, c = i, t = setmetatable ({v = b, w = "\65\066\0677"}, M2),})
    show (coroutine.status (co1 == nil and 1 or coroutine.running ()))
   end)
   try (co1, i)
   try (co1, i)
   try (co1, math.max (i, "-3.5e1"))
   try (co1, function (y, ...) tick () return y - 1000 + 0 end)
   try (co1, i)
   return #p0;
  end
  show (b2 ((p0:gsub ("(%w)(%w)", function () end))))
  local b1, e1 = i / nz (select ("#", p0, m, i)) + 0, ("98" + i + 0)
  local e = e1
  return b2 (p0)
 end
 show (d (({a = setmetatable ({v = i, w = false}, M1); s = "two words"; c = i; f = function (self, ...) tick () return self * 1000 + 0 end; ["b"] = i; t = -- why
"two words",}).s))
 i = cut (d)
end
try (function (...)
 show (setmetatable ({v = 1e100 % 1/0 + 0, w = "x y z"}, M2), setmetatable ({v = ("59" + 2.5e-3 + 0), w = [==[ ]] ]=] ]==]}, M2))
 return (("38" - 1000 + 0)) * (select ("#", ...)) + 0
end, type (false))
try (function (...)
 for a1, d2 in coroutine.wrap (function () for i = 1, 1 do coroutine.yield (i, i * 2) end end) do
  tick ()
  try (function ()
   tick (25)
   local t = {x = select ("#", {c = d2, a = a1, ["b"] = a1, f = math.abs, s = "10", t = -- why
"-3.5e1",}, setmetatable ({v = d2, w = "abcabc"}, M2), a1), [2] = 1}
   return 1 + t
  end)
 end
 show (select (1, (false and --[[ here ]] 0xFF or {1e3, 1e3, 1e3, 0.1, -0.5}), {9007199254740992, 0.1, (math.huge or 0), 0xFF}, (select ("#", ...))))
 return setmetatable ({v = (not 2 and "10" or "abcabc"), w = "tab\tq\"\\"}, M2), {s = ("\65\066\0677"):upper (), c = 42, ["b"] = -- why
("34" + 1.5 + 0), a = ({a = M1; t = "-3.5e1"; s = "abcabc"; ["b"] = --[[ here ]] math.huge; f = function (y, ...) tick () return y * 2 + 0 end; c = 0x10,}).f (4), t = "\65\066\0677", f = function (self, ...) tick () return self * 3.75 + 0 end,}
end, math.floor (math.huge) + 0)
try (function (...)
 local function h (p0, ...)
  tick ()
  for c = 1, 3, 1 / 0 do
   tick ()
   c = cut ((({s = "two words"; ["b"] = c; c = p0; a = nil; t = "\65\066\0677"; f = math.abs; [1] = true; ...; [true] = 1; nil; 2;}).a) * (({s = "0x1F"; c = c; t = 'single'; a = p0; f = math.abs; ["b"] = .25;}).f ((c < c))) + 0)
   local function l (p0, p1, ...)
    tick ()
    for a = {s = "äöü"; ["b"] = true; t = [==[ ]] ]=] ]==]; c = 3.75; f = math.abs; a = 123456789; [1] = true; ...; [true] = 1; nil; 2,}, ("x y z"):upper () do
     tick ()
     local n2 = a

     show ({c = n2, a = #({(c or 0)}), s = tostring (255), ["b"] = c % (-0.5) + 0, t = "a", f = math.abs;}, c, ((p0).s):sub (2, 2))
    end
    c, c = cut (type (4)), c
    return 
select ("#", c, type (c), {a = c; ["b"] = c; c = c; f = function (y, ...) tick () return y - 3.75 + 0 end; t = " 7 "; s = [[long]],})
   end
   show (l ({s = [==[ ]] ]=] ]==]; c = c; t = [[long]]; ["b"] = 0xFF; a = l; f = math.abs,}, ("x y z" < "b")))
  end
  do return (({(p0 or 0)}) [ p0 ] or p0), (("10"):sub (-3, -2)):byte (2) end
  local e = setmetatable ({v = function (x, ...) tick () return x + 4 + 0 end, w = "10"}, M2)
  local f1 = {a = math.min (p0, true), s = table.concat (({(p0 or 0), (p0 or 0), (p0 or 0), (p0 or 0), (p0 or 0)}), 1), t = "tab\tq\"\\", f = math.abs, c = p0, ["b"] = {["b"] = p0, a = p0, s = "", c = p0, f = function (x, ...) tick () return x - 1e3 + 0 end, t = "10";};}
  return p0 / nz (p0) + 0;
 end
 show (h (("54" * 1.5 + 0)))
 G1, G1, G1 = cut ((not nil and M2 or "a")), cut ({255, 4, 1e3, 1.5}), cut ((true and 10 or 100))
 for d, i in pairs ({{t = --[[ here ]] "\65\066\0677"; s = [[long]]; ["b"] = .25; f = function (self, ...) tick () return self - 7 + 0 end; c = 1/0; a = 1/0}}) do
  tick ()
--[==[ ]] ]==]
  G1 = (({c = 7; t = M2; s = "äöü"; ["b"] = i; f = function (y, ...) tick () return y - .25 + 0 end; a = i}).s > (setmetatable ({v = d, w = "x y z"}, M1) >= setmetatable ({v = [[long]], w = ""}, M1)))
  show (G2)
  do
   for n, d in (function (s, c) if c < 2 then return c + 1, c * s end end), 10, 0 do
    tick ()
   end
   G1, G1 = cut ((setmetatable ({v = i, w = "äöü"}, M2)).v), cut (d)
   do
-- comment
    local f = 2
    while f > 0  do
     f = f - 1
     tick ()
    end
    local k = function (p0, p1)
     tick ()
     local f1 = tostring ("0x1F")
     G1 = d

     show (G1)
     f1 = cut (f1:rep (0))
     return i
    end
    show (k ((true or 1 == 1), {c = h; a = false; ["b"] = 3.75; t = --[[ here ]] "x y z"; f = function (y, ...) tick () return y * 2 + 0 end; s = ""; [1] = true; ...; [true] = 1; nil; 2;}))
   end
  end
  for d1, a in keys ({t = "line\nbreak", a = 0x10, f = math.abs, c = i, ["b"] = 123456789, s = --[[ two
lines ]] setmetatable ({v = i, w = "b"}, M2)}) do
   tick ()
  end
 end
 local k1 = 3
 while k1 > 0 and true do
  k1 = k1 - 1
  tick ()
 end
end, --[[ here ]] (false or 1e3))
for b, b2 in ((("-3.5e1"):gsub ("(%w)(%w)", ""))):gmatch ("(%w)(%w*)") do
 tick ()
end
if --[[ here ]] (type ((nil and -- why
1 == 1 or not nil)) > (type (setmetatable ({v = M2, w = --[[ here ]] "-3.5e1"}, M2))) .. (("äöü"):upper ()) .. (setmetatable ({v = 9007199254740992, w = "0x1F"}, M1)) .. (({t = "tab\tq\"\\", c = 0.1, s = [==[ ]] ]=] ]==], a = 1, ["b"] = 2.5e-3, f = math.abs, [1] = true, ..., [true] = 1, nil, 2}).a)) then
 local co0 = coroutine.wrap (function (x, ...)
  tick (25)
  local f2 = coroutine.yield (("x y z"):rep (3))
  local m1 = 3
  while m1 > 0 and true do
   m1 = m1 - 1
   tick ()
   show ((x == (select ("#", ...)) + math.min ({t = "\65\066\0677", a = x, c = f2, s = "x y z", f = math.abs, ["b"] = f2;}, 3) + 0), x, (((" 7 "):rep (2) ~= ("two words") .. (setmetatable ({v = f2, w = " 7 "}, M1))) and (-f2 + 0 >= f2) or ((false or function (x, ...) tick () return x * 2 + 0 end) or (1 == 1 or not nil))))
  end
  return ("\65\066\0677"):reverse (), (setmetatable ({v = f2, w = --[[ two
lines ]] "0x1F"}, M1)) .. (setmetatable ({v = x, w = {f = function (x, ...) tick () return x * 42 + 0 end; ["b"] = f2; a = x; c = m1; t = "abcabc"; s = {(x or 0), (f2 or 0), (f2 or 0), (m1 or 0)},}}, M1))
 end)
 try (co0, ({t = " 7 ", c = --[[ two
lines ]] 0.5, s = "line\nbreak", a = 1e3, ["b"] = -7, f = math.abs,}).b)
 try (co0, math.max (1, 0x10))
 try (co0, math.ceil (1.5) + 0)
elseif (({s = "hello", a = 1e100, f = math.abs, t = "b", c = 42, ["b"] = --[[ here ]] 1e3,}).c < (select ("#", ...))) then
 local g = --[[ here ]] {}
elseif ((setmetatable ({v = 123456789, w = [[long]]}, M1) <= setmetatable ({v = 10, w = "\65\066\0677"}, M1)) and -0xFF + 0) then
else
end
show (setmetatable ({v = 
3 - 1e3 + 0, w = " 7 "}, M1), setmetatable ({v = 
1 - 1/0 + 0, w = 
"b"}, M1), {["b"] = 7 - function (x, y) tick () return y, x end + 0, t = "hello", a = (select ("#", ...)), c = function (...) return arg.n, ... end, s = ("line\nbreak"):upper (), f = math.abs,})
