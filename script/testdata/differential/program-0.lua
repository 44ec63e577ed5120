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
 local h, i = #(("tab\tq\"\\"):upper ()), ({["b"] = --[[ two
lines ]] 3.75; c = {-7, 123456789, (0.1 or 0)}; t = "line\nbreak"; s = [==[ ]] ]=] ]==]; a = 0.1; f = math.abs}).c
 local function h (p0)
  tick ()
  i, i, i = i, -i + 0, i
  return cut (p0), (false)

 end
 show (h ((nil or {(i or 0), (i or 0), (i or 0), (i or 0)})))
end, ("abcabc"):rep (3), (1 == 1 and {-1, 3, (function (self, ...) tick () return self * 0 + 0 end or 0)} or -- why
{65536}))
for i = 1, #({1e3, (1/0 or 0), 1, (-0.5 or 0), 9007199254740992}) do
 tick ()
 local function g (a, b) while b ~= 0 do tick () a, b = b, a % b end return a end show (g (9 * 6, 18))
 local function d (p0)
  tick ()
  local m = (((false and setmetatable ({v = i, w = p0}, M2) or {s = p0, ["b"] = i, t = "", a = i, c = i, f = math.abs}) or (nil or 
setmetatable ({v = p0, w = p0}, M2))) == setmetatable ({v = i, w = p0}, M1))
  local function b2 (p0)
   tick ()
   local co2 = coroutine.create (function (x, ...)
    tick (25)
    local d2 = coroutine.yield (i, (p0:gsub ("(%w)(%w)", "")))
    local b1 = coroutine.yield (i, d2)
    local k2 = x
    local b = coroutine.yield (b1)
    G1 = 
tostring ("tab\tq\"\\")
    show (_G.G1)
    return not setmetatable ({v = x, w = function (self, ...) tick () return self - 255 + 0 end}, M1), setmetatable ({v = function (x, y) tick () return y, x end, w = setmetatable ({v = b, w = p0}, M2)}, M1)
   end)
   show (coroutine.resume (co2, M2, i))
   if ((i == i)) then
   elseif ({65536, (m or 0), (p0 or 0), (i or 0), (i or 0)} == p0) then
   else

    G1, i, G1 = p0:rep (2), i, {s = p0; c = i; ["b"] = i; f = function (self, ...) tick () return self - 3.75 + 0 end; a = 1.5; t = p0;}
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
 i = d
end
try (function (...)
 show (setmetatable ({v = 1e100 % 1/0 + 0, w = "x y z"}, M2), setmetatable ({v = ("59" + 2.5e-3 + 0), w = [==[ ]] ]=] ]==]}, M2))
 return (("38" - 1000 + 0)) * (select ("#", ...)) + 0
end, type (false))
try (function (...)
 for a1, d2 in (("hello"):reverse ()):gmatch ("(%w)(%w*)") do
  tick ()
  local co1 = coroutine.create (function (x, ...)
   tick (25)
   for d2, l in (function (s, c) if c < 4 then return c + 1, c * s end end), 2, 0 do
    tick ()
    show (unpack ({...}, 1, 2))
    local d = function ()
     tick ()
     show (x * (-l + 0) + 0)
     l = ((("" and not nil) or not false) and d2 or l)
     return cut (a1:sub (3, 6));
    end
    show (d ())
   end
   local d2 = coroutine.yield ({s = d2, f = function (x, ...) tick () return x - 1e3 + 0 end, c = x, a = {(x or 0), (x or 0)}, ["b"] = x, t = d2,}, x)
   local function f (p0)
    tick ()
    show (xpcall (function ()
     G1, G1 = not false, {["b"] = d2, f = function (self, ...) tick () return self * 65536 + 0 end, a = d2, s = p0, t = 
function (y, ...) tick () return y - 1 + 0 end, c = d2;}
     G1, x = {(d2 or 0)}, #p0
     local function deep (n) if n == 0 then error ("deep", 3) end deep (n - 1) end
     deep (1)
    end, tostring))
    return cut ({f = math.abs, a = (a1:gsub (".", function (x) return x:upper () end)), t = p0, ["b"] = x % 1000 + 0, c = x, s = ({s = a1; c = d2; t = p0; a = x; f = math.abs; ["b"] = d2;}).s,})
   end
   local k2 = coroutine.yield ({f = math.abs, a = {a = x; t = a1; ["b"] = d2; s = a1; c = x; f = math.abs}, ["b"] = x, s = a1, c = d2, t = {f = function (x, ...) tick () return x * 3 + 0 end, ["b"] = x, t = a1, c = d2, a = x, s = false;},})
   for n1, c in keys ({f = math.abs; c = d2; t = a1; a = d2; ["b"] = k2; s = M1,}) do
    tick ()
    local function g2 (p0, ...)
     tick ()
     x, x = (-x + 0) % ({(d2 or 0)}) + 0, n1 / nz (x) + 0
     return d2;
    end
    show (g2 (x))
    local l = coroutine.yield (M2, #({}))
    show (l)
   end
   show (coroutine.status (co1 == nil and 1 or coroutine.running ()))
  end)
  show (coroutine.resume (co1, #({}), select ("#", 3)))
  show (coroutine.resume (co1, (({-7, 0.1, 9007199254740992, 0xFF}) [ 3.75 ] or 1.5), (select ("#", ...))))
  show (coroutine.resume (co1, math.max (9007199254740992, 4), (1 == 1 and 2 or 42)))
  show (coroutine.resume (co1, d2:byte (3), 1 - 100 + 0))
  show (coroutine.resume (co1, ("22" % 0 + 0), (({}) [ {} ] or 2)))
  show (coroutine.status (co1))
  for h = M2, (setmetatable ({v = 1e3, w = a1}, M1)).v, {t = 'single'; f = math.abs; ["b"] = 0xFF; s = a1; c = M1; a = 42,} do
   tick ()
   for l, j1 in (d2):gmatch ("(%w)(%w*)") do
    tick ()
    local a2 = h
    a2 = #l
    for j, e2 in (function (s, c) if c < 1 then return c + 1, c * s end end), 10, 0 do
     tick ()
     local d = a1
     G2 = math.min (a2, a2 / nz (setmetatable ({v = a2, w = l}, M1)) + 0)
     show (G2)
     if (d2 > M2) then show (1) break end
    end
   end
   show (..., 1)
  end
  local g = function (...)
   tick ()
   return (({1.5, 255, 1e100}) [ 0 ] or {t = d2; s = a1; ["b"] = .25; f = function (self, ...) tick () return self - 7 + 0 end; c = 1/0; a = 1/0});
  end
  show (g ())
 end
 show ({s = (1.5) .. (setmetatable ({v = 1, w = nil}, M2)) .. (setmetatable ({v = 0.5, w = "0x1F"}, M1)); ["b"] = M2; f = math.abs; c = 1000; a = (setmetatable ({v = 9007199254740992, w = [[long]]}, M1)).v; t = [==[ ]] ]=] ]==]}, -- why
#({(select ("#", "-3.5e1", {(1/0 or 0)}, 
{s = 
[==[ ]] ]=] ]==]; t = "x y z"; a = 0x10; c = 10; f = math.abs; ["b"] = 1e100,}) or 0)}), {})
 return --[[ two
lines ]] -math.max (0x10, 2.5e-3) + 0, {f = function (x, ...) tick () return x - 0.5 + 0 end; c = -7; ["b"] = {f = function (x, ...) tick () return x + 1e3 + 0 end, ["b"] = -- why
1.5, a = 0xFF, c = --[[ two
lines ]] 0.5, t = "10", s = --[[ here ]] "two words",}; a = 4 / nz (7) + 0; s = ("0x1F"):sub (1, 6); t = "-3.5e1";}, {(0x10 % 65536 + 0 or 0)}
end, (({0.1, -0.5, 0.5}) [ 1e100 ] or 123456789), (not nil and --[[ here ]] 0), (100) .. (123456789) .. (2))
local function r (t, n) tick () if n > 0 then t [#t + 1] = n r (t, n - 1) t [#t + 1] = -n end return t end show (r ({}, 4))
show (tostring (true), {s = 
(("\65\066\0677"):gsub ("(%w)(%w)", "%1")); f = math.abs; ["b"] = #({-1, 3.75, -7}); c = 10; t = "abcabc"; a = function (self, ...) tick () return self * 2.5e-3 + 0 end; [1] = true; ...; [true] = 1; nil; 2;})
show ((#({2.5e-3, 1e3, (false or 0), 3, -7})) .. (("line\nbreak"):reverse ()) .. (setmetatable ({v = 100, w = "line\nbreak"}, M2)) .. {3}, ("" and (("tab\tq\"\\"):gsub ("(%w)(%w)", ""))), ((false or 0)) .. ("a" .. (setmetatable ({v = 0.1, w = nil}, M1))) .. (({f = math.abs; c = 4; a = math.huge; t = "tab\tq\"\\"; s = "a"; ["b"] = 0.5,}).a) .. ((("\65\066\0677"):gsub ("(%w)(%w)", "%1"))))
