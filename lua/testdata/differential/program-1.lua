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
 G1 = (tostring (nil)):lower ()
 show (G1)
 show (select ("#", ...) * (4 * math.huge + 0 % math.max (123456789, 255) + 0) + 0, {(-(-0.5) + 0 or 0), ((1 == 1 and -7) or 0)}, ((nil or "tab\tq\"\\" .. (setmetatable ({v = 9007199254740992, w = "line\nbreak"}, M2)) .. "tab\tq\"\\" .. (42))):byte (3))
 show (select (3, {c = 1000, a = 0, ["b"] = 1/0, f = math.abs, t = [[long]], s = " 7 ";}, "abcabc" .. (1000), setmetatable ({v = 1e3, w = "äöü"}, M1)))
 for d2, g in keys ({t = "0x1F"; s = "tab\tq\"\\"; a = 1/0; c = -0.5; f = math.abs; ["b"] = 1000; [1] = true; ...; [true] = 1; nil; 2;}) do
  tick ()
  local a = 3
  repeat
   tick ()
   local i1_ = select ("#", true)
   a = a - 1
   local bulk = (function ()
    local t = {k0 = 0.5, k1 = 1.5, k2 = 2.5, k3 = 3.5, k4 = 4.5, k5 = 5.5, k6 = 6.5, k7 = 7.5, k8 = 8.5, k9 = 9.5, k10 = 10.5, k11 = 11.5, k12 = 12.5, k13 = 13.5, k14 = 14.5, k15 = 15.5, k16 = 16.5, k17 = 17.5, k18 = 18.5, k19 = 19.5, k20 = 20.5, k21 = 21.5, k22 = 22.5, k23 = 23.5, k24 = 24.5, k25 = 25.5, k26 = 26.5, k27 = 27.5, k28 = 28.5, k29 = 29.5, k30 = 30.5, k31 = 31.5, k32 = 32.5, k33 = 33.5, k34 = 34.5, k35 = 35.5, k36 = 36.5, k37 = 37.5, k38 = 38.5, k39 = 39.5, k40 = 40.5, k41 = 41.5, k42 = 42.5, k43 = 43.5, k44 = 44.5, k45 = 45.5, k46 = 46.5, k47 = 47.5, k48 = 48.5, k49 = 49.5, k50 = 50.5, k51 = 51.5, k52 = 52.5, k53 = 53.5, k54 = 54.5, k55 = 55.5, k56 = 56.5, k57 = 57.5, k58 = 58.5, k59 = 59.5, k60 = 60.5, k61 = 61.5, k62 = 62.5, k63 = 63.5, k64 = 64.5, k65 = 65.5, k66 = 66.5, k67 = 67.5, k68 = 68.5, k69 = 69.5, k70 = 70.5, k71 = 71.5, k72 = 72.5, k73 = 73.5, k74 = 74.5, k75 = 75.5, k76 = 76.5, k77 = 77.5, k78 = 78.5, k79 = 79.5, k80 = 80.5, k81 = 81.5, k82 = 82.5, k83 = 83.5, k84 = 84.5, k85 = 85.5, k86 = 86.5, k87 = 87.5, k88 = 88.5, k89 = 89.5, k90 = 90.5, k91 = 91.5, k92 = 92.5, k93 = 93.5, k94 = 94.5, k95 = 95.5, k96 = 96.5, k97 = 97.5, k98 = 98.5, k99 = 99.5, k100 = 100.5, k101 = 101.5, k102 = 102.5, k103 = 103.5, k104 = 104.5, k105 = 105.5, k106 = 106.5, k107 = 107.5, k108 = 108.5, k109 = 109.5, k110 = 110.5, k111 = 111.5, k112 = 112.5, k113 = 113.5, k114 = 114.5, k115 = 115.5, k116 = 116.5, k117 = 117.5, k118 = 118.5, k119 = 119.5, k120 = 120.5, k121 = 121.5, k122 = 122.5, k123 = 123.5, k124 = 124.5, k125 = 125.5, k126 = 126.5, k127 = 127.5, k128 = 128.5, k129 = 129.5, k130 = 130.5, k131 = 131.5, k132 = 132.5, k133 = 133.5, k134 = 134.5, k135 = 135.5, k136 = 136.5, k137 = 137.5, k138 = 138.5, k139 = 139.5, k140 = 140.5, k141 = 141.5, k142 = 142.5, k143 = 143.5, k144 = 144.5, k145 = 145.5, k146 = 146.5, k147 = 147.5, k148 = 148.5, k149 = 149.5, k150 = 150.5, k151 = 151.5, k152 = 152.5, k153 = 153.5, k154 = 154.5, k155 = 155.5, k156 = 156.5, k157 = 157.5, k158 = 158.5, k159 = 159.5, k160 = 160.5, k161 = 161.5, k162 = 162.5, k163 = 163.5, k164 = 164.5, k165 = 165.5, k166 = 166.5, k167 = 167.5, k168 = 168.5, k169 = 169.5, k170 = 170.5, k171 = 171.5, k172 = 172.5, k173 = 173.5, k174 = 174.5, k175 = 175.5, k176 = 176.5, k177 = 177.5, k178 = 178.5, k179 = 179.5, k180 = 180.5, k181 = 181.5, k182 = 182.5, k183 = 183.5, k184 = 184.5, k185 = 185.5, k186 = 186.5, k187 = 187.5, k188 = 188.5, k189 = 189.5, k190 = 190.5, k191 = 191.5, k192 = 192.5, k193 = 193.5, k194 = 194.5, k195 = 195.5, k196 = 196.5, k197 = 197.5, k198 = 198.5, k199 = 199.5, k200 = 200.5, k201 = 201.5, k202 = 202.5, k203 = 203.5, k204 = 204.5, k205 = 205.5, k206 = 206.5, k207 = 207.5, k208 = 208.5, k209 = 209.5, k210 = 210.5, k211 = 211.5, k212 = 212.5, k213 = 213.5, k214 = 214.5, k215 = 215.5, k216 = 216.5, k217 = 217.5, k218 = 218.5, k219 = 219.5, k220 = 220.5, k221 = 221.5, k222 = 222.5, k223 = 223.5, k224 = 224.5, k225 = 225.5, k226 = 226.5, k227 = 227.5, k228 = 228.5, k229 = 229.5, k230 = 230.5, k231 = 231.5, k232 = 232.5, k233 = 233.5, k234 = 234.5, k235 = 235.5, k236 = 236.5, k237 = 237.5, k238 = 238.5, k239 = 239.5, k240 = 240.5, k241 = 241.5, k242 = 242.5, k243 = 243.5, k244 = 244.5, k245 = 245.5, k246 = 246.5, k247 = 247.5, k248 = 248.5, k249 = 249.5, k250 = 250.5, k251 = 251.5, k252 = 252.5, k253 = 253.5, k254 = 254.5, k255 = 255.5, k256 = 256.5, k257 = 257.5, k258 = 258.5, k259 = 259.5, k260 = 260.5, k261 = 261.5, k262 = 262.5, k263 = 263.5, k264 = 264.5, k265 = 265.5, k266 = 266.5, k267 = 267.5, k268 = 268.5, k269 = 269.5, k270 = 270.5, k271 = 271.5, k272 = 272.5, k273 = 273.5, k274 = 274.5, k275 = 275.5, k276 = 276.5, k277 = 277.5, k278 = 278.5, k279 = 279.5, k280 = 280.5, k281 = 281.5, k282 = 282.5, k283 = 283.5, k284 = 284.5, k285 = 285.5, k286 = 286.5, k287 = 287.5, k288 = 288.5, k289 = 289.5, k290 = 290.5, k291 = 291.5, k292 = 292.5, k293 = 293.5, k294 = 294.5, k295 = 295.5, k296 = 296.5, k297 = 297.5, k298 = 298.5, k299 = 299.5}
    show (t.k299 + t.k150, t.k298 < t.k3, t.k1 == 297.5, t.none)
    t.k296, t.new = t.k1 show (t.k296)
   end) ()
  until a < 0 or false
  if (setmetatable ({v = d2, w = g}, M1) <= setmetatable ({v = d2, w = g}, M2)) then do end break end
 end
 return {c = 9007199254740992; s = (("two words"):gsub ("(%w)(%w)", "")); f = function (x, ...) tick () return x * 1e3 + 0 end; a = -1 + 0; ["b"] = ("-3.5e1"):byte (-2); t = " 7 "}
end, ({f = math.abs, s = "", ["b"] = 007, c = 0.1, a = 1e100, t = "hello"}).t, (false and 3 or 100), setmetatable ({v = 2.5e-3, w = "\65\066\0677"}, M1), setmetatable ({v = 1e3, w = " 7 "}, M1))
do
 if ((math.max (0xFF, -1)) / nz (#("-3.5e1")) + 0 < ("75" * ((setmetatable ({v = 42, w = "hello"}, M1)).v) + 0)) then
 end
 show (((math.min (-7, 9007199254740992)) + (("-3.5e1"):byte (3)) + 0) % (table.concat (({(math.huge or 0), 3, 0, 2, 2}), "") and (-0.5) - 2.5e-3 + 0) + 0, (table.concat (({2.5e-3, 255, 0x10, 1.5}), " ")):byte (-1))
end
local co2 = coroutine.create (function (x, ...)
 tick (25)
--[[ long
comment ]]
 local function Y (...) tick () return (coroutine.yield (...)) end
 local d2 = Y ({}, x + x + 0)
 do
  for c = 1, #({(x or 0), 42, (d2 or 0), (x or 0), (x or 0)}) do
   tick ()
   show (setmetatable ({v = x, w = "hello"}, M1), d2)
  end
  local d = function (...)
   tick ()
   return tonumber (x) + 0, #("10");
  end
  show (d ())

 end
 return "hello" .. "a", x
end)
show (coroutine.resume (co2, -1e15 + 0))
show (coroutine.status (co2))
show (coroutine.resume (co2, (0.1)))
show (coroutine.status (co2))
show (coroutine.resume (co2, (1e15), math.min (255, .25)))
show (coroutine.status (co2))
show (coroutine.resume (co2, ({f = math.abs, a = 1.5, s = "10", c = 1e3, ["b"] = 65536, t = [[long]];}).b, ({s = "10", ["b"] = 123456789, f = math.abs, t = [[long]], a = 1000, c = 1e3;}).f (1e3)))
show (coroutine.status (co2))
local g1 = (({(math.min (1000, math.huge) or 0), (255 + 007 + 0 or 0)}) [ 0x10 ] or math.max (0x10 - 007 + 0, select ("#", ...)))
local function l2 (p0, p1, p2, ...)
 tick ()
 local j = p1
 local co1 = coroutine.create (function (x, ...)
  tick (25)
  local function Y (...) tick () return (coroutine.yield (...)) end
  local b1, h_0, c2_1 = (coroutine.yield ((4 ~= g1), setmetatable ({v = g1, w = p0}, M1)))
  local l = c2_1
  show ({...})
  try (coroutine.yield, 1)
 end)
 show (coroutine.resume (co1, math.abs (.25) + 0))
 show (coroutine.resume (co1, g1, g1))
 show (coroutine.resume (co1))
 return p1.f (select ("#", setmetatable ({v = g1, w = p2}, M1))), g1
end
local bulk = (function ()
 local t = {k0 = 0.5, k1 = 1.5, k2 = 2.5, k3 = 3.5, k4 = 4.5, k5 = 5.5, k6 = 6.5, k7 = 7.5, k8 = 8.5, k9 = 9.5, k10 = 10.5, k11 = 11.5, k12 = 12.5, k13 = 13.5, k14 = 14.5, k15 = 15.5, k16 = 16.5, k17 = 17.5, k18 = 18.5, k19 = 19.5, k20 = 20.5, k21 = 21.5, k22 = 22.5, k23 = 23.5, k24 = 24.5, k25 = 25.5, k26 = 26.5, k27 = 27.5, k28 = 28.5, k29 = 29.5, k30 = 30.5, k31 = 31.5, k32 = 32.5, k33 = 33.5, k34 = 34.5, k35 = 35.5, k36 = 36.5, k37 = 37.5, k38 = 38.5, k39 = 39.5, k40 = 40.5, k41 = 41.5, k42 = 42.5, k43 = 43.5, k44 = 44.5, k45 = 45.5, k46 = 46.5, k47 = 47.5, k48 = 48.5, k49 = 49.5, k50 = 50.5, k51 = 51.5, k52 = 52.5, k53 = 53.5, k54 = 54.5, k55 = 55.5, k56 = 56.5, k57 = 57.5, k58 = 58.5, k59 = 59.5, k60 = 60.5, k61 = 61.5, k62 = 62.5, k63 = 63.5, k64 = 64.5, k65 = 65.5, k66 = 66.5, k67 = 67.5, k68 = 68.5, k69 = 69.5, k70 = 70.5, k71 = 71.5, k72 = 72.5, k73 = 73.5, k74 = 74.5, k75 = 75.5, k76 = 76.5, k77 = 77.5, k78 = 78.5, k79 = 79.5, k80 = 80.5, k81 = 81.5, k82 = 82.5, k83 = 83.5, k84 = 84.5, k85 = 85.5, k86 = 86.5, k87 = 87.5, k88 = 88.5, k89 = 89.5, k90 = 90.5, k91 = 91.5, k92 = 92.5, k93 = 93.5, k94 = 94.5, k95 = 95.5, k96 = 96.5, k97 = 97.5, k98 = 98.5, k99 = 99.5, k100 = 100.5, k101 = 101.5, k102 = 102.5, k103 = 103.5, k104 = 104.5, k105 = 105.5, k106 = 106.5, k107 = 107.5, k108 = 108.5, k109 = 109.5, k110 = 110.5, k111 = 111.5, k112 = 112.5, k113 = 113.5, k114 = 114.5, k115 = 115.5, k116 = 116.5, k117 = 117.5, k118 = 118.5, k119 = 119.5, k120 = 120.5, k121 = 121.5, k122 = 122.5, k123 = 123.5, k124 = 124.5, k125 = 125.5, k126 = 126.5, k127 = 127.5, k128 = 128.5, k129 = 129.5, k130 = 130.5, k131 = 131.5, k132 = 132.5, k133 = 133.5, k134 = 134.5, k135 = 135.5, k136 = 136.5, k137 = 137.5, k138 = 138.5, k139 = 139.5, k140 = 140.5, k141 = 141.5, k142 = 142.5, k143 = 143.5, k144 = 144.5, k145 = 145.5, k146 = 146.5, k147 = 147.5, k148 = 148.5, k149 = 149.5, k150 = 150.5, k151 = 151.5, k152 = 152.5, k153 = 153.5, k154 = 154.5, k155 = 155.5, k156 = 156.5, k157 = 157.5, k158 = 158.5, k159 = 159.5, k160 = 160.5, k161 = 161.5, k162 = 162.5, k163 = 163.5, k164 = 164.5, k165 = 165.5, k166 = 166.5, k167 = 167.5, k168 = 168.5, k169 = 169.5, k170 = 170.5, k171 = 171.5, k172 = 172.5, k173 = 173.5, k174 = 174.5, k175 = 175.5, k176 = 176.5, k177 = 177.5, k178 = 178.5, k179 = 179.5, k180 = 180.5, k181 = 181.5, k182 = 182.5, k183 = 183.5, k184 = 184.5, k185 = 185.5, k186 = 186.5, k187 = 187.5, k188 = 188.5, k189 = 189.5, k190 = 190.5, k191 = 191.5, k192 = 192.5, k193 = 193.5, k194 = 194.5, k195 = 195.5, k196 = 196.5, k197 = 197.5, k198 = 198.5, k199 = 199.5, k200 = 200.5, k201 = 201.5, k202 = 202.5, k203 = 203.5, k204 = 204.5, k205 = 205.5, k206 = 206.5, k207 = 207.5, k208 = 208.5, k209 = 209.5, k210 = 210.5, k211 = 211.5, k212 = 212.5, k213 = 213.5, k214 = 214.5, k215 = 215.5, k216 = 216.5, k217 = 217.5, k218 = 218.5, k219 = 219.5, k220 = 220.5, k221 = 221.5, k222 = 222.5, k223 = 223.5, k224 = 224.5, k225 = 225.5, k226 = 226.5, k227 = 227.5, k228 = 228.5, k229 = 229.5, k230 = 230.5, k231 = 231.5, k232 = 232.5, k233 = 233.5, k234 = 234.5, k235 = 235.5, k236 = 236.5, k237 = 237.5, k238 = 238.5, k239 = 239.5, k240 = 240.5, k241 = 241.5, k242 = 242.5, k243 = 243.5, k244 = 244.5, k245 = 245.5, k246 = 246.5, k247 = 247.5, k248 = 248.5, k249 = 249.5}
 show (t.k249 + t.k125, t.k248 < t.k3, t.k1 == 247.5, t.none)
 t.k246, t.new = t.k1 show (t.k246)
end) ()
local function i (p0, ...)
 tick ()
 for a2, m in (function (s, c) if c < 4 then return c + 1, c * s end end), 2, 0 do
  tick ()
  if not false then break end
 end
 if (not nil and (setmetatable ({v = g1, w = "0x1F"}, M2) == setmetatable ({v = g1, w = "line\nbreak"}, M1))) then
  local co0 = coroutine.wrap (function (x, ...)
   tick (25)
   local n2, b_0 = coroutine.yield ((true or true))
   show (x)
   local i, d1_0, n1_1 = n2, coroutine.yield (("hello"):sub (4, 5), n2)
   try (coroutine.yield, 1)
  end)
  try (co0)
  try (co0, g1)
  try (co0, ("-3.5e1"):byte (2), g1)
  try (co0)
  try (co0)
 elseif (g1 < g1) then
 end
 do
  if ((table.concat (p0, " ") ~= (("0x1F"):gsub (".", "<%0>"))) and (g1 == not 1 == 1)) then
   g1 = g1
   show ({c = g1, s = (1 == 1 and "hello" or "line\nbreak"), t = "b", a = g1, f = math.abs, ["b"] = g1;}, (({c = g1, s = "-3.5e1", ["b"] = g1, f = math.abs, t = "two words", a = g1}).s):upper ())
   local co0 = coroutine.create (function (x, ...)
    tick (25)
    local a = {a = x, t = [[long]], c = g1, f = function (self, ...) tick () return self * 2.5e-3 + 0 end, s = " 7 ", ["b"] = -1}, coroutine.yield (g1, setmetatable ({v = math.huge, w = "abcabc"}, M2))
    show (a)
    local c, c1_0 = {}, (coroutine.yield ((setmetatable ({v = g1, w = "tab\tq\"\\"}, M1) >= setmetatable ({v = x, w = [[long]]}, M2)), g1))
    local h2 = not (a <= c1_0)
    try (coroutine.yield, 1)
   end)
   show (coroutine.resume (co0, l2 ("tab\tq\"\\", {t = " 7 ", a = g1, ["b"] = g1, f = function (y, ...) tick () return y + 0 + 0 end, s = "two words", c = -0.5, [1] = true, ..., [true] = 1, nil, 2,}, ""), math.min (-7, g1)))
  elseif ((1 == 1 or not nil) and ("a" <= "tab\tq\"\\")) then
   show (select ("#", (g1)), g1)
  end
  local i2 = 2
  while i2 > 0 or false do
   i2 = i2 - 1
   tick ()
   do
    g1, p0 [#p0 + 1], g1 = g1 % (-g1 + 0) + 0, g1, math.min (g1, g1)
   end
   show (select (3, {s = "", f = math.abs, a = g1, ["b"] = g1, t = "-3.5e1", c = g1, [1] = true, ..., [true] = 1, nil, 2,}, g1, type ("a")))
--[[ long
comment ]]
   if (10 >= g1) then show (1) break end
-- comment
  end
 end
 return cut ((("63" % g1 + 0)) .. (setmetatable ({v = g1, w = "äöü"}, M2)) .. ((("line\nbreak"):gsub (".", {a = "A", b = 2, c = false}))))
end
show (tostring ("b"), (not (g1 >= g1) and setmetatable ({v = g1, w = "x y z"}, M1) or setmetatable ({v = g1, w = "tab\tq\"\\"}, M1)))

