-- Upvalues: of loops, of blocks left by break, across pcall and errors.
local fs = {}
for i = 1, 3 do fs[i] = function() i = i + 1 return i end end
print(fs[1](), fs[1](), fs[2](), fs[3]())
local f
while true do do local y = 1 f = function() return y end break end end
local z, w = 5, 6
print(f())
for i = 1, 3 do if i == 2 then local q = i * 10 f = function() return q end break end end
local a1, a2, a3, a4 = 7, 8, 9, 10
print(f())
repeat do local r = 30 f = function() r = r + 1 return r end if true then break end end until true
local b1, b2, b3 = 1, 2, 3
print(f(), f())
for k, v in pairs({x = 1}) do
  if v then
    do local c = k .. v f = function() return c end break end
  end
end
local c1, c2, c3, c4, c5, c6 = 1, 2, 3, 4, 5, 6
print(f())
while true do
  local o = 1
  if o then local p = 2 f = function() return o, p end break end
end
local d1, d2, d3, d4 = 1, 2, 3, 4
print(f())
local list = {}
for i = 1, 4 do
  local x = i
  while true do
    local y = x * 10
    list[#list + 1] = function() x = x + 1 y = y + 1 return x, y end
    if i > 2 then break end
    do local zz = y list[#list + 1] = function() return zz end break end
  end
end
for _, g in ipairs(list) do io.write(table.concat({g()}, ","), " ") end print()
local a = 1
local function g() return a end
pcall(error)
a = 2
print(g())
local function failing()
  local v = 10
  f = function() return v end
  v = 11
  error("x")
end
print(pcall(failing))
local e1, e2, e3 = 1, 2, 3
print(f())
print(xpcall(failing, function(m) return "handled " .. m end))
local h1, h2, h3 = 1, 2, 3
print(f())
local n = 0
local function count() n = n + 1 if n < 5 then return pcall(count) end error("deep") end
print(count())
print(n)
do
  local acc = {}
  for i = 1, 3 do
    local ok = pcall(function() acc[#acc + 1] = function() i = i * 2 return i end if i == 2 then error("e") end end)
    i = i + 100
  end
  print(acc[1](), acc[2](), acc[3](), acc[1]())
end
local function counter() local c = 0 return function() c = c + 1 return c end, function() c = 0 end end
local inc, reset = counter()
inc() inc()
print(inc()) reset() print(inc())
local function nest(x) return function(y) return function(zz) x = x + 1 return x + y + zz end end end
print(nest(1)(2)(3), nest(1)(2)(3))
local rec
rec = function(m) if m == 0 then return 0 end return m + rec(m - 1) end
print(rec(100))
local s = "outer"
local function shadow() local r = s local s = "inner" return r, s, (function() return s end)() end
print(shadow())
do local t = {} for i = 1, 3 do local j j = i t[i] = function() return j end end print(t[1](), t[2](), t[3]()) end
local k = 0
repeat local m = k t2 = t2 or {} t2[k] = function() return m end k = k + 1 until m >= 2
print(t2[0](), t2[1](), t2[2]())
