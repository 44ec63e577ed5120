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
  tick (25)
  return {(math.min (0.5, 123456789) or 0), (({c = 0xFF, f = math.abs, ["b"] = 42, a = 3.75, t = {["b"] = 2.5e-3; a = 1.5; f = math.abs; t = setmetatable ({v = 0.1, w = "two words"}, M1); c = 2.5e-3; s = "tab\tq\"\\"; [1] = true; nil; [true] = 1; nil; 2}, s = setmetatable ({v = {a = 3.75, ["b"] = {-0.5, 1.5, 123456789, (m or 0), .25}, c = 10, t = "a", s = "line\nbreak", f = math.abs, [1] = true, nil, [true] = 1, nil, 2;}, w = "hello"}, M1),}).t or 0), ((setmetatable ({v = m, w = "abcabc"}, M1)).v or 0), (function (y, ...) tick () return y - 1000 + 0 end or 0)}
 end, function () end))
 for a1, i in pairs ({select ("#", setmetatable ({v = 1, w = "two words"}, M2), 0x10)}) do
  tick ()
  if m then do end break end
 end
 return (("x y z"):sub (3, 0)):sub (3, 3), ({a = 100; s = "hello"; ["b"] = 123456789; f = function (x, ...) tick () return x * 2 + 0 end; t = "hello"; c = 1,}), {f = function (x, ...) tick () return x * 0.5 + 0 end; s = table.concat (({3, 0.1}), 1); a = (({10}) [ math.huge ] or 123456789); c = 3; ["b"] = (""):byte (-1); t = "-3.5e1";}
end, (" 7 "):sub (1, -1), (42 == 1e3), #("tab\tq\"\\"))
try (function (...)
 for m, e in ((("line\nbreak"):gsub ("%a", function () end))):gmatch ("(%w)(%w*)") do
  tick ()
-- comment
  G2 = select ("#", ...) / nz (select ("#", {1}, -1)) + 0
  show (_G.G1)
  do
   G1, G1 = {t = m; a = 0xFF; ["b"] = -1; s = m; c = 2.5e-3; f = math.abs;}, e
   local function c1 (p0)
    tick ()
    local f function f (n, ...) tick () if n == 0 then return ... end return f (n - 1, n, ...) end show (f (3))
    show (((p0 ~= m) == (m:gsub ("(%w)(%w)", ""))), math.max ((nil or 42), p0:byte (3)) % (#({0x10, 1.5})) + 0)
    for m = 1, 3 do
     tick ()
     show (setmetatable ({v = m, w = e}, M1), setmetatable ({v = m, w = p0}, M2))
    end
    local c = 3
    repeat
     tick ()
     local l_ = (({(1/0 or 0), 42, (math.huge or 0), (math.huge or 0), 7}) [ 1e15 ] or 10)
     c = c - 1
    until c < 0 or l_ == 1
    return cut (({f = function (self, ...) tick () return self + 1 + 0 end, t = p0, ["b"] = -0.5, a = 42, s = e, c = 2.5e-3,}).t)
   end
   show (c1 (m))
   show ({t = e, s = type ({s = e; ["b"] = 0.1; a = 1e15; t = m; c = 255; f = math.abs;}), ["b"] = 1000 / nz (3.75) + 0, a = 3 / nz (2) + 0, c = -7, f = math.abs, [1] = true, ..., [true] = 1, nil, 2}, {f = function (x, ...) tick () return x * 0.5 + 0 end; a = -1.5 + 0; s = (not nil and "10"); t = e; c = 65536; ["b"] = math.max (-7, 7);})
  end
  do
   show ({(math.max (math.huge, 2.5e-3) or 0), ((select ("#", ...)) or 0), (math.ceil (0xFF) + 0 or 0)})
   G1 = ({a = .25; c = 123456789; t = m; ["b"] = 0; f = function (x, ...) tick () return x + 3 + 0 end; s = e,}).f ((true and 255))
   show (G2)
  end
 end
 show ({a = 2147483648 / nz (1/0) + 0, ["b"] = math.min (4, 3.75), t = "a", f = function (x, ...) tick () return x - 2.5e-3 + 0 end, c = 1e3, s = (255) .. ("-3.5e1") .. "hello" .. [[long]],}, setmetatable ({v = ({["b"] = 1e100, a = -1, c = 0.1, s = "a", t = "tab\tq\"\\", f = math.abs;}).a, w = [==[ ]] ]=] ]==]}, M1), (setmetatable ({v = (({1}) [ 4 ] or 9007199254740992), w = "line\nbreak"}, M1) == setmetatable ({v = ({s = "\65\066\0677"; c = 100; t = "-3.5e1"; f = function (x, ...) tick () return x + 1000 + 0 end; ["b"] = 42; a = 1/0; [1] = true; ...; [true] = 1; nil; 2}).b, w = "line\nbreak"}, M1)))
 for k = 0, 1, 0.25 do
  tick ()
 end
 local b = 2
 repeat
  tick ()
  local h1_ = #({3, 1e15, 1e3, 1, 255})
  b = b - 1
  local function j1 (p0)
   tick ()
   local function g (a, b) while b ~= 0 do tick () a, b = b, a % b end return a end show (g (2 * 6, 18))
   show ((not nil and (not not 1 == 1 and (true and {(h1_ or 0), (p0 or 0), (h1_ or 0), (p0 or 0)}) or {})), h1_, #(tostring ("0x1F")))
   local function d ()
    tick ()
    local co1 = coroutine.wrap (function (x, ...)
     tick (25)
     local i = coroutine.yield (("two words"):rep (3))
     local n = (not not not true and {} or {(x or 0), (i or 0), (x or 0), (p0 or 0)})
     local m1, k = x, h1_
     try (coroutine.yield, 1)
    end)
    try (co1, #("\65\066\0677"))
    try (co1, math.min (h1_, 0.1))
    try (co1, p0)
    for j1 = 1, #({(p0 or 0)}) do
     tick ()
    end
    local function c2 (p0, p1, p2)
     tick ()
     return h1_;
    end
    show (c2 (({c = h1_; s = "two words"; t = "b"; f = function (y, ...) tick () return y * 65536 + 0 end; a = p0; ["b"] = h1_; [1] = true; nil; [true] = 1; nil; 2}).s, ([==[ ]] ]=] ]==]):lower (), (not true and true or false)))
    return math.max (h1_ * p0 + 0, p0);
   end
   show (d ())
   local g1 = 3
   repeat
    tick ()
    local g_ = h1_
    g1 = g1 - 1
    local h = {c = h1_; f = function (x, ...) tick () return x + 1 + 0 end; ["b"] = g_ * p0 + 0; s = tostring (true); t = "tab\tq\"\\"; a = select ("#", {["b"] = g_, c = math.huge, a = p0, t = "a", f = function (x, ...) tick () return x + 1000 + 0 end, s = "10"}, p0, {s = "x y z", ["b"] = h1_, a = g_, c = 0, f = math.abs, t = ""}); [1] = true; nil; [true] = 1; nil; 2,}
    function h.f (p0)
     tick ()
     p0, h.c, g_ = #(('single'):sub (2, 1)), p0, -g_ + 0
     show (select (1, (h).s, p0 * g_ + 0, (false and nil)))
     return p0
    end
    show (h.f (1/0 / nz (g_) + 0))
   until g1 < 0 or (g_ < p0)
-- comment
   return cut (tostring ("\65\066\0677"));
  end
  show (j1 (tonumber (h1_) + 0))
 until b < 0 or not h1_
 local co2 = coroutine.wrap (function (x, ...)
  tick (25)
  local co0 = coroutine.create (function (x, ...)
   tick (25)
   local d2 = coroutine.yield (((""):gsub ("%s+", "<%0>")), {s = "line\nbreak"; ["b"] = x; t = "a"; c = x; f = math.abs; a = x,})
   show (x, {(-1/0 + 0 or 0), (x or 0), ((true and -7) or 0), (d2 or 0), (x * d2 + 0 or 0)})
   return x, {}
  end)
  show (coroutine.resume (co0, x, x))
  show (coroutine.resume (co0, x, x))
  show (coroutine.status (co0))
  show (coroutine.resume (co0, x, 2147483648 % x + 0, x))
  show (coroutine.status (co0))
  show (coroutine.resume (co0, #({(x or 0), (x or 0)}), x))
  show (coroutine.status (co0))
  show (coroutine.resume (co0, x, x))
  show (coroutine.status (co0))
  local a = coroutine.yield (("-3.5e1"):rep (1), ({["b"] = x; c = x; f = math.abs; s = "x y z"; a = x; t = "two words"; [1] = true; ...; [true] = 1; nil; 2;}).s)
  local co2 = coroutine.create (function (x, ...)
   tick (25)
   local f1 = 3
   repeat
    tick ()
    local l_ = (false or 1/0)
    f1 = f1 - 1
   until f1 < 0 or false
   local a = coroutine.yield (x, ("b"):sub (-1, 4))
   show ((((type (a)):upper ()):gsub ("(%w)(%w)", "<%0>")), tostring ("\65\066\0677"))
   return {t = "tab\tq\"\\"; a = 1/0; c = a; ["b"] = x; f = function (x, ...) tick () return x + 4 + 0 end; s = "tab\tq\"\\"; [1] = true; ...; [true] = 1; nil; 2}, (not 1 == 1 and "x y z" or "10")
  end)
  show (coroutine.resume (co2, x, ({c = x, a = a, s = [[long]], t = "a", ["b"] = a, f = math.abs, [1] = true, ..., [true] = 1, nil, 2,}).f (a)))
  show (coroutine.resume (co2, a, ("74" % a + 0)))
  return {(a or 0), 9007199254740992, (a or 0), (a or 0)}, math.max (a, x)
 end)
 try (co2, math.max (10, 0xFF))
 try (co2, math.floor (10) + 0)
 try (co2, 1e100 - 2.5e-3 + 0)
 try (co2, #("tab\tq\"\\"))
end, (9007199254740992 == "tab\tq\"\\"))
try (function (...)
 do local fs = {} for i = 1, 3 do local j = i * 2 fs [i] = function (d) j = j + (d or 0) return i, j end end for i = 1, 3 do show (fs [i] (i)) show (fs [i] ()) end end
 for d = 10, 8, -1 do
  tick ()
  show ({(d or 0), (d or 0)}, d)
 end
 local co0 = coroutine.create (function (x, ...)
  tick (25)
--[[ long
comment ]]
  local n = coroutine.yield (x)
  local f = (not (not (n == n) and (1 == 1 or true) or (x >= n)) and setmetatable ({v = n * n + 0, w = "abcabc"}, M2) or setmetatable ({v = x, w = [[long]]}, M1))

  local a = coroutine.yield (table.concat (({}), ""))
  for n, d in (function (s, c) if c < 2 then return c + 1, c * s end end), 10, 0 do
   tick ()
  end
  return (2.5e-3 <= a), -x + 0
 end)
 show (coroutine.resume (co0, (1 == 1 and 007 or 10), #('single')))
 show (coroutine.status (co0))
 show (coroutine.resume (co0, ({s = "tab\tq\"\\"; a = 1e3; ["b"] = 0; c = 007; t = "two words"; f = math.abs;}).c, -10 + 0))
 show (coroutine.status (co0))
 show (coroutine.resume (co0, ({["b"] = 7; s = "hello"; t = "10"; c = -0.5; a = 4; f = function (self, ...) tick () return self - 255 + 0 end; [1] = true; ...; [true] = 1; nil; 2}).f (1e15), tonumber (3.75) + 0))
 show (coroutine.status (co0))
 show (coroutine.resume (co0, ("7" - 1/0 + 0), #("10")))
 show (coroutine.status (co0))
end, ("\65\066\0677"):rep (-1), tostring (#({-0.5, 0.5})))
local function l1 (p0, p1, ...)
 tick ()
 show (select (1, {}, p0:byte (-1), #(p0)))
 local k1 = ("16" + (("74" * (2 * 1.5 + 0) + 0)) + 0)
 try (function ()
  tick (25)
  local g = function (...)
   tick ()
   local i = (("41" * k1 + 0) > k1 - (({f = function (self, ...) tick () return self * 2.5e-3 + 0 end; t = "abcabc"; a = k1; ["b"] = k1; s = p0; c = .25,}).f (k1)) + 0)
   do return setmetatable ({v = select ("#", setmetatable ({v = k1, w = p0}, M2)), w = p0}, M1) end
   local function l1 (p0, p1)
    tick ()
    show (p1, (nil or p0.f (k1)))
    local c1, g1 = math.min (k1, k1), k1
    show ({(k1 or 0)}, p1, {(c1 or 0)})
    return cut (p1:rep (2)), p0;
   end
   show (l1 ({f = function (x, ...) tick () return x + 2.5e-3 + 0 end; a = k1; s = p0; ["b"] = k1; c = 4; t = p0;}, p0:sub (4, 0)))
   for c = 10, 8, -1 do
    tick ()
    show (unpack (p1))
    table.insert (p1, 1, k1 or 0)
    c = 3 % c + 0
   end
   return l1 ({f = function (x, ...) tick () return x - 3.75 + 0 end; a = k1; t = p0; s = "-3.5e1"; c = k1; ["b"] = k1;}, p0)
  end
  show (g ())
  for b1, i1 in keys ({t = p0; a = k1; f = function (self, ...) tick () return self * 4 + 0 end; c = k1; s = p0; ["b"] = k1;}) do
   tick ()
   show ({(k1 - b1 + 0 or 0)}, k1)
   local c = 2
   repeat
    tick ()
    local l_ = b1
    c = c - 1
    show (select (2, ({c = b1; t = p0; s = i1; a = l_; ["b"] = k1; f = function (self, ...) tick () return self - 1000 + 0 end}), (setmetatable ({v = l_, w = i1}, M1) == setmetatable ({v = k1, w = p0}, M2)), i1))
   until c < 0 or (b1 ~= 100)
   if (k1 ~= b1) then do end break end

  end
  error ("level", 3)
 end)
 do return k1 end
 return ((setmetatable ({v = k1, w = p0}, M2))).v, p0
end
show (l1 (tostring (3.75), {100, 0.1, 0.1, 3.75, .25}))
try (function (...)
 local co0 = coroutine.create (function (x, ...)
  tick (25)

  if (setmetatable ({v = math.floor (1) + 0, w = " 7 "}, M1) == x) then
   for m2 = 1, -1 / 0 do
    tick ()
    if not ((x ~= m2) and (x > m2)) then

     show ((setmetatable ({v = (-0.5) - 1e3 + 0, w = "-3.5e1"}, M1) <= setmetatable ({v = l1 ("hello", {(m2 or 0), (m2 or 0)}), w = [[long]]}, M1)), x)
     local h = {c = m2, f = math.abs, ["b"] = x, s = "tab\tq\"\\" .. x, a = ({["b"] = m2; s = "x y z"; a = x; t = "x y z"; f = math.abs; c = m2}).b, t = "tab\tq\"\\",}
     G1 = (({}) [ x ] or x)
     show (G2)
    elseif (("abcabc" >= "a") or ("hello" == 3)) then
     show (unpack ({...}, 1, 2))
    end
    local n = function (...)
     tick ()
     local f2, d = math.max ((l1 ("\65\066\0677", {})), math.ceil (m2) + 0), -(l1 ("äöü", {(x or 0), (m2 or 0)})) + 0
     show ({(#("") or 0), (f2 or 0), (d or 0), (l1 ([==[ ]] ]=] ]==], {(f2 or 0)}) or 0)})
     return (setmetatable ({v = x, w = [[long]]}, M1)).v, ("two words"):rep (1);
    end
    G1 = [[
first line gone]]
    try (function ()
     local o, p = setmetatable ({v = m2, w = ""}, M1), setmetatable ({v = 1e3, w = " 7 "}, M1)
     o.x = p o [1] = 2 return rawget (o, "x"), rawget (o, 1), o.last
    end)
   end
  end
  try (coroutine.yield, 1)
 end)
 show (coroutine.resume (co0, (l1 ("hello", {3, (math.huge or 0), 65536, 3.75, 3})), #("line\nbreak")))
 show (coroutine.status (co0))
 show (coroutine.resume (co0, #({4, 007, 0xFF, 0.1}), -1 + 0))
 show (coroutine.resume (co0, (select ("#", ...)), l1 ("a", {(1/0 or 0)})))
 show (coroutine.resume (co0, ("äöü"):byte (-1), (2147483648)))
end, ([==[ ]] ]=] ]==]):lower (), {007, 7, 2147483648, 0.5}, {(1/0 or 0)})
local i1 = 4
while i1 > 0 and (nil or not nil) do
 i1 = i1 - 1
 tick ()
 if ("0x1F" ~= "x y z") then do end break end
end
try (function (...)
 show (select (3, (l1 ("a", {(i1 or 0), (i1 or 0), (i1 or 0)})), (select ("#", ...)), {(i1 or 0), (i1 or 0), (i1 or 0)}))
end, setmetatable ({v = 3, w = [==[ ]] ]=] ]==]}, M1), (false and "a" or "10"), (({(i1 or 0), (i1 or 0), (i1 or 0), (i1 or 0), (i1 or 0)}) [ i1 ] or i1))
show ({(-1000 + 0 or 0), (i1 or 0), (("tab\tq\"\\"):byte (2) or 0), (-i1 + 0 or 0)}, setmetatable ({v = 0x10 % i1 + 0, w = "a"}, M2), {(i1 or 0), (i1 or 0), ((({(i1 or 0)}) [ i1 ] or i1) or 0)})
