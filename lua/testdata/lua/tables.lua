-- Integer keys in any order, deleted and written again.
local function show (t)
  local keys = {}
  for k in pairs (t) do keys [#keys + 1] = tostring (k) end
  table.sort (keys)
  print (table.concat (keys, " "))
end
local function sum (t) local n, s = 0, 0 for k, v in pairs (t) do n, s = n + 1, s + k * v end return n, s end

local t = {} t [1000000] = 1 t [2000000] = 2 t [-1] = 3 t [0.5] = 4 t [2^53] = 5 show (t)
print (t [1000000], t [2000000], t [999999], #t, table.maxn (t), next (t) ~= nil, t [-1], t [2^53])
t [1000000] = nil show (t) t [1000000] = 9 print (t [1000000])

-- filled from the end, from the middle, with steps
local down, middle, step = {}, {}, {}
for i = 300, 1, -1 do down [i] = i end
for i = 100, 200 do middle [i] = i end for i = 99, 1, -1 do middle [i] = i end
for i = 1, 300, 3 do step [i] = i end for i = 2, 300, 3 do step [i] = i end for i = 3, 300, 3 do step [i] = i end
print (#down, #middle, #step, sum (down), sum (middle), sum (step))
for i, v in ipairs (down) do assert (i == v) end
for i, v in ipairs (middle) do assert (i == v) end
for i, v in ipairs (step) do assert (i == v) end
print (unpack (down, 290, 300)) print (table.concat (middle, ",", 95, 105)) print (select ("#", unpack (step)))

-- a queue
local q, first, last, total = {}, 1, 0, 0
for i = 1, 5000 do
  last = last + 1 q [last] = i
  if i % 3 ~= 0 then total = total + q [first] q [first] = nil first = first + 1 end
end
while first <= last do total = total + q [first] q [first] = nil first = first + 1 end
print (total, next (q), #q)
for i = 1, 10 do q [i] = i end print (#q, sum (q))

-- a stack
local stack = {} for i = 1, 1000 do stack [#stack + 1] = i end
local s = 0 while #stack > 0 do s = s + stack [#stack] stack [#stack] = nil end print (s, #stack, next (stack))

-- deleted while walked
local walked = {} for i = 1, 200 do walked [i] = i walked ["k" .. i] = i walked [i * 1000] = i walked [i + 0.5] = i end
local n = 0 for k in pairs (walked) do n = n + 1 walked [k] = nil end print (n, next (walked))
for i = 1, 200 do walked [i] = i walked ["k" .. i] = i end
n = 0 for k in pairs (walked) do n = n + 1 for i = 1, 200 do if i % 2 == 0 then walked [i] = nil walked ["k" .. i] = nil end end end
print (n >= 200 and n <= 202)
n = 0 for k, v in pairs (walked) do n = n + 1 walked [k] = v + 1 for k2 in pairs (walked) do walked [k] = nil end end print (n, next (walked))

-- drained by next, and filled again in between
local set, order = {}, {} for i = 1, 500 do set ["x" .. i] = true end
while next (set) do local k = next (set) set [k] = nil order [#order + 1] = k if #order == 100 then for i = 1, 50 do set ["y" .. i] = true end end end
print (#order)
for round = 1, 20 do for i = 1, 100 do set [round * 1000 + i] = i end for i = 1, 100 do set [round * 1000 + i] = nil end end
print (next (set)) set.a = 1 set.b = 2 set.a = nil set.a = 3 show (set)

-- holes, rawset, insert and remove
local h = {} for i = 1, 10 do h [i] = i end h [20] = 20 h [5] = nil print (h [20], h [5], h [10]) h [5] = 5 print (#h == 10 or #h == 20)
rawset (h, 11, 11) rawset (h, 100000, "far") print (rawget (h, 11), rawget (h, 100000), h [100000])
local l = {} for i = 1, 20 do table.insert (l, 1, i) end l [22] = "x" table.insert (l, "y") print (#l == 22, l [21], l [22], l [1])
print (table.remove (l, 1), l [1], l [20], l [21]) 
local big = {} big [3] = "c" big [2] = "b" big [1] = "a" print (#big, table.concat (big))
print (pcall (function () local x = {} x [nil] = 1 end)) print (pcall (function () local x = {} x [0/0] = 1 end)) print (({}) [nil], ({}) [0/0])

-- metatables see integers that the table does not have
local log = {} local m = setmetatable ({}, {__index = function (_, k) return k * 2 end, __newindex = function (x, k, v) log [#log + 1] = k rawset (x, k, v) end})
m [1] = 1 m [500000] = 5 m [500000] = 6 m [500000] = nil m [500000] = 7 print (m [1], m [500000], m [600000], table.concat (log, " "))
