local M1 = {
 __add = function (x, y) tick (30) return (type (x) == "table" and x.v or x) + (type (y) == "table" and y.v or y) end,
 __sub = function (x, y) tick (30) return x end,
 __div = function (x, y) tick (30) return "div" end,
 __mod = function (x, y) tick (30) return nil end,
 __unm = function (x, y) tick (30) return x end,
 __lt = function (x, y) tick (30) return x.w < y.w end,
 __le = function (x, y) tick (30) return x.v <= y.v end,
 __call = function (self, ...) tick (30) return select ("#", ...) end,
 __index = setmetatable ({}, {__index = 5}),
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
 G1 = (tostring (nil)):reverse ()
 show (_G.G1)
 G1, G1 = cut (1000 % (setmetatable ({v = 4, w = "line\nbreak"}, M1)) + 0), cut (math.floor (65536) + 0)
end, {t = "two words"; ["b"] = 
1e3; a = {-0.5, 255, 2, 0.1, 1e3}; c = -1; f = function (self, ...) tick () return self + 1000 + 0 end; s = "x y z",}, "äöü" .. (setmetatable ({v = -0.5, w = ""}, M1)) .. [[long]], ("a"):sub (2, -1))
for m1 = 1, "3" do
 tick ()
end
local function b (p0)
 tick ()
 show (p0)
 for c, m in keys ((false and -- why
setmetatable ({v = p0, w = 'single'}, M2) or setmetatable ({v = p0, w = ""}, M2))) do
  tick ()
  local function g2 (p0)
   tick ()
   local d = function (p0, p1, p2)
    tick ()
    return cut (m), p2
   end
   show (d (#(m), (not --[[ two
lines ]] 1 == 1 and {(c or 0)} or c), p0))
   local function l1 (p0, p1, p2)
    tick ()
    m = cut ((m:rep (1)) .. (type (c)) .. (p2 .. m .. (setmetatable ({v = c, w = {s = m; ["b"] = c; a = c; f = math.abs; t = m; c = c; [1] = true; nil; [true] = 1; nil; 2}}, M1)) .. (setmetatable ({v = p2, w = m}, M2)) / nz (c) + 0) .. (setmetatable ({v = math.min (c, 1000), w = m}, M2)))
    show (next (p0) == nil, #p0, p0 [1])
    show (select (3, c % 4 + 0, setmetatable ({v = c, w = "tab\tq\"\\"}, M1), (not p1 and 123456789 or c)))
--[[ long
comment ]]
    show (d, c, m)
    return d (c, p0, p2)
   end
   show (l1 (function (x) tick () return x end, (c ~= 42), p0))
   return (c)
  end
  show (g2 (setmetatable ({v = p0, w = "a"}, M2)))
  show (select (1, c, p0, (true or not nil)))
 end
 do
  local b, i2 = p0, ({t = "x y z", s = setmetatable ({v = p0, w = "0x1F"}, M1), a = p0, f = math.abs, c = true, ["b"] = "two words",}).f ({(p0 or 0), (p0 or 0), (p0 or 0)})
  show ((not not not setmetatable ({v = i2, w = "10"}, M1) and (setmetatable ({v = b, w = [[long]]}, M1) > setmetatable ({v = b, w = "b"}, M2)) or (b ~= b)))
  local co2 = coroutine.create (function (x, ...)
   tick (25)
   local ok, e = pcall (function ()
    tick (25)
    local function deep (n) if n == 0 then error ("deep", 1) end deep (n - 1) end
    deep (0)
   end)
   show (ok, e)
   if (setmetatable ({v = b, w = "10"}, M1) < setmetatable ({v = #({(b or 0)}), w = 'single'}, M1)) then
    show (select (2, ...))
    local l = --[[ two
lines ]] setmetatable ({v = (true and {t = [[long]]; c = b; ["b"] = p0; s = "\65\066\0677"; a = [==[ ]] ]=] ]==]; f = function (x, ...) tick () return x * 1 + 0 end} or {t = "äöü", ["b"] = x, a = i2, c = p0, s = "abcabc", f = math.abs,}), w = "b"}, M1)
   else
   end
   local b, c2_0, j_1 = coroutine.yield (b, tostring (3))
   return j_1, select ("#", {f = math.abs, ["b"] = 1 == 1, s = -- why
"hello", t = not nil, a = i2, c = i2;})
  end)
  show (coroutine.resume (co2, select ("#", {a = p0, t = "abcabc", c = i2, ["b"] = function (y, ...) tick () return y + 1000 + 0 end, s = {c = 0.1, a = p0, f = math.abs, ["b"] = p0, s = 'single', t = [[long]]}, f = math.abs,}, p0), b))
  show (coroutine.resume (co2, p0, M2))
  show (coroutine.resume (co2, i2))
  show (coroutine.resume (co2, i2 / nz (1e100) + 0, setmetatable ({v = i2, w = [==[ ]] ]=] ]==]}, M1)))
  show (coroutine.status (co2))
  show (coroutine.resume (co2, p0, select ("#", "0x1F", [[long]])))
 end
 for i, e in keys ({f = function (self, ...) tick () return self * .25 + 0 end; t = "x y z"; s = " 7 "; ["b"] = p0; c = p0; a = p0; [1] = true; nil; [true] = 1; nil; 2}) do
  tick ()
 end
 return cut (p0 .. (tostring (2.5e-3)))
end
show (b (1e100 % 1e3 + 0))
try (function (...)
 local m1 = {t = "-3.5e1", f = function (y, ...) tick () return y + .25 + 0 end, ["b"] = 2147483648 * 0.1 + 0, a = --[[ here ]] ({c = 100, a = 007, s = M2, ["b"] = 1, t = "hello", f = function (self, ...) tick () return self * 65536 + 0 end,}).f (1), c = 0xFF, s = -- why
tostring ("0x1F");}
 for f2 = 0.5, 2 do
  tick ()

  local f2, c1 = -- why
(select ("#", ...)), f2
  local co1 = coroutine.wrap (function (x, ...)
   tick (25)
   local function Y (...) tick () return (coroutine.yield (...)) end
   local f = coroutine.yield (setmetatable ({v = function (self, ...) tick () return self + 255 + 0 end, w = "x y z"}, M1), setmetatable ({v = "\65\066\0677", w = x}, M1))
   local b2 = 0
   repeat
    tick ()
    local j2_ = {(f or 0), (f2 or 0), (1 == 1 or 0)}
    b2 = b2 - 1
    local i1 = Y ("10" .. ("x y z"), (setmetatable ({v = m1, w = " 7 "}, M1) == "\65\066\0677"))
    show (i1)
   until b2 < 0 or (setmetatable ({v = c1, w = "10"}, M1) ~= setmetatable ({v = i1, w = "hello"}, M1))
   local l2, a_0 = Y (m1)
   if ((b (f)) > tostring (1)) then
    local h1 = (tostring (#({(c1 or 0)})) >= m1.t)
   elseif (x < x) then
    local m = (x >= #(((1 == 1):gsub (".", {a = "A", b = 2, c = false}))))
   end

   return ("11" - 1/0 + 0), setmetatable ({v = f, w = "\65\066\0677"}, M1)
  end)
-- comment
  try (co1, c1, f2)
 end
 G2 = {["b"] = (007 <= 123456789), a = setmetatable ({v = 3, w = "\65\066\0677"}, M2), f = math.abs, s = --[[ two
lines ]] (setmetatable ({v = -0.5, w = "x y z"}, M1)) .. "a" .. (setmetatable ({v = -1, w = "tab\tq\"\\"}, M2)), t = {0x10, (1/0 or 0), 2147483648, (-0.5 or 0)}, c = {t = "\65\066\0677", s = [==[ ]] ]=] ]==], a = 0xFF, c = 0xFF, f = function (y, ...) tick () return y * 3 + 0 end, ["b"] = 3.75, [1] = true, ..., [true] = 1, nil, 2}}
 show (_G.G1)
end, {a = 0.5, s = "abcabc", t = "äöü", ["b"] = 0, f = math.abs, c = 1/0})
do local co = coroutine.wrap (function () local u = 2 local f = function () u = u + 1 return u end while true do coroutine.yield (f) u = u * 2 end end) local f = co () show (f ()) co () show (f ()) end
show ((select ("#", ...)) % ([[long]] .. (setmetatable ({v = 1000, w = "hello"}, M1))):rep (2) + 0, (((([==[ ]] ]=] ]==]):gsub ("b*", function (x) return x:upper () end))) .. (("64" * 42 + 0)) .. (2147483648 * 2147483648 + 0)):byte (1))
try (function (...)
 local i = function (...)
  tick ()
  local j2 = --[[ here ]] {["b"] = math.max (9007199254740992, 4); t = false; s = [[long]] .. ("-3.5e1") .. (2) .. math.huge; c = 0xFF; a = 3.75 % --[[ here ]] 0.5 + 0; f = math.abs,}
  local e = 2
  repeat
   tick ()
   local j2_ = select ("#", not nil)
   e = e - 1
   local co2 = coroutine.create (function (x, ...)
    tick (25)
    local a1 = (coroutine.yield (x, x))
    for i2, m2 in ipairs ({1e3, (j2_ or 0), (a1 or 0), (j2 or 0)}) do
     tick ()
     j2 = cut (not j2)
    end
    local d1, d1_0, k_1 = (coroutine.yield (("a"):rep (0), x .. x .. "0x1F"))
    if (((not nil and 'single' or [==[ ]] ]=] ]==]) >= x .. "tab\tq\"\\") or (k_1 == k_1 - k_1 + 0)) then
-- comment
     local l = M1
     show (j2_ / nz ((select ("#", ...))) + 0, {(d1_0 or 0), (j2_ or 0), (d1_0 or 0)}, setmetatable ({v = d1_0, w = "tab\tq\"\\"}, M1))
    else
    end
    local l, g2_0, f_1 = coroutine.yield (("a" == {(a1 or 0), (x or 0), (j2_ or 0), (setmetatable ({v = d1, w = "x y z"}, M1) or 0), (x or 0)}), d1 .. ([==[ ]] ]=] ]==]) .. (setmetatable ({v = x, w = "tab\tq\"\\"}, M1)) .. d1)
    return (d1_0 >= d1)
   end)
   show (coroutine.resume (co2, {a = j2_, t = "abcabc", f = math.abs, ["b"] = j2_, s = [[long]], c = j2_;}, (setmetatable ({v = j2_, w = "hello"}, M1)).v, j2_))
   show (coroutine.status (co2))
   show (coroutine.resume (co2, ("31" + j2_ + 0)))
   show (coroutine.resume (co2, {c = j2_; s = "0x1F"; a = 42; t = [[long]]; f = math.abs; ["b"] = 1 == 1}, (true and "10")))
   show (coroutine.resume (co2, j2_ / nz (j2_) + 0, ((j2) [ j2_ ] or 0.1), j2_))
   show (coroutine.status (co2))
  until e < 0 or (j2_ == j2)
  local r function r (n, ...) tick () if n == 0 then return ... end return r (n - 1, n, ...) end show (r (8))
  G1, G1, j2.c = cut (j2.f (10)), cut (("\65\066\0677"):byte (0)), cut (j2.f (("32" * 2 + 0)))
  return select ("#", (true and setmetatable ({v = 1, w = "\65\066\0677"}, M1) or {1, 1e100, 3, -1}), select ("#", 
math.huge), b (10));
 end
 show (i ())
 local g2 = 
((((nil and {0xFF, 9007199254740992, -1, (math.huge or 0)} or {(false or 0), 3, -7, 1000})) [ 3.75 ] or ({f = function (x, ...) tick () return x + 10 + 0 end; a = -7; s = 'single'; c = 100; t = {0.5, 4, 3.75, (math.huge or 0), 123456789}; ["b"] = 100}).f (4))) .. (setmetatable ({v = select ("#", "\65\066\0677", " 7 ", 123456789), w = "two words"}, M1)) .. (table.concat (((1 and {(M2 or 0)})), ","))
 for d = 3, 1, -1 do
  tick ()
  if (i == (i ()) - d + 0) then
   for a, c in pairs ({d}) do
    tick ()
   end
   do local a = 1 local f try (function () local b = 4 f = function () b = b + 1 a = a + 1 return a, b end f () error ("out") end) show (f ()) show (f ()) show (a) end
   local h = setmetatable ({v = --[[ two
lines ]] (setmetatable ({v = d, w = -- why
"0x1F"}, M1)).v, w = g2}, M2)
  else
   for g = 1, 4, 2 do
    tick ()
   end
   try (function ()
    tick (25)
    do local function counter () local c = 0 return function () c = c + 1 return c end, function () return c end end local inc, get = counter () inc () inc () show (get (), (counter ()) ()) end
    d, G1 = cut (d), cut ({007})
    local t = {x = g2, [2] = 1}
    local u = t.y u ()
   end)
  end
  local f function f (n, ...) tick () if n == 0 then return ... end return f (n - 1, n, ...) end show (f (8))
 end
 return ({s = "äöü"; f = function (y, ...) tick () return y + 10 + 0 end; c = {(math.huge or 0), 2, 0, (1/0 or 0)}; ["b"] = 0; a = 0.5; t = g2,}), (not true or setmetatable ({v = 1e3, w = g2}, M1))
end, {t = "\65\066\0677"; c = 2; f = math.abs; a = 100; s = b; ["b"] = --[[ here ]] 0.5,}, (setmetatable ({v = --[[ two
lines ]] 123456789, w = "hello"}, M1) ~= setmetatable ({v = M2, w = "\65\066\0677"}, M2)), -(not nil) + 0)
show (tostring (.25), (true and nil), setmetatable ({v = -10 + 0, w = "abcabc"}, M2))
