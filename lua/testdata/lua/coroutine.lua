local co = coroutine.create(function(a, b)
  print("start", a, b)
  local c = coroutine.yield(a + b)
  print("got", c)
  local d, e = coroutine.yield(c * 2)
  print("got", d, e)
  return "fin", 99
end)
print(coroutine.status(co))
print(coroutine.resume(co, 1, 2))
print(coroutine.status(co))
print(coroutine.resume(co, 10))
print(coroutine.resume(co, "x", "y"))
print(coroutine.status(co))
print(coroutine.resume(co))
print(select('#', coroutine.resume(coroutine.create(function() end))))
print(select('#', coroutine.resume(coroutine.create(function() return nil end))))
print(select('#', coroutine.resume(coroutine.create(function() coroutine.yield() end))))
print(coroutine.resume(coroutine.create(function() error("e") end)))
print(coroutine.resume(coroutine.create(function() error({}) end)) == false)
print(coroutine.resume(coroutine.create(function() local x x() end)))
print(pcall(coroutine.create, print)) print(pcall(coroutine.wrap, print))
print(coroutine.running())
co = coroutine.create(function()
  print(coroutine.status(co), coroutine.running() == co)
  print(pcall(function() return coroutine.running() == co, coroutine.status(co) end))
  print(coroutine.resume(co))
  local inner = coroutine.create(function() return coroutine.status(co), coroutine.resume(co) end)
  print(coroutine.resume(inner))
end)
coroutine.resume(co)
local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
print(gen(), gen(), gen(), gen())
print(pcall(gen))
for v in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i * i) end end) do io.write(v, " ") end print()
print(pcall(coroutine.wrap(function() error("wrapped") end)))
print(pcall(coroutine.wrap(function() error({}) end)) == false)
print(pcall(coroutine.yield, 1))
co = coroutine.create(function() print(pcall(function() coroutine.yield(1) end)) return "after" end)
print(coroutine.resume(co))
co = coroutine.create(function() print(pcall(table.sort, {3, 2, 1}, function(a, b) coroutine.yield() return a < b end)) return "after" end)
print(coroutine.resume(co))
co = coroutine.create(function()
  local t = setmetatable({}, {__index = function(_, k) coroutine.yield(k) return 1 end})
  print(pcall(function() return t.x end))
  return "after"
end)
print(coroutine.resume(co))
co = coroutine.create(function()
  local t = setmetatable({}, {__add = function() coroutine.yield(1) return 1 end})
  return t + 1
end)
print(coroutine.resume(co))
co = coroutine.create(function() for x in function() coroutine.yield(1) end do end end)
print(coroutine.resume(co))
co = coroutine.create(function() return coroutine.yield(1) end)
print(coroutine.resume(co)) print(coroutine.resume(co, 5, 6)) print(coroutine.status(co))
local function permgen(a, n)
  if n == 0 then coroutine.yield(table.concat(a, " ")) else
    for i = 1, n do
      a[n], a[i] = a[i], a[n]
      permgen(a, n - 1)
      a[n], a[i] = a[i], a[n]
    end
  end
end
for p in coroutine.wrap(function() permgen({1, 2, 3}, 3) end) do io.write("[", p, "] ") end print()
local function producer() return coroutine.create(function() for i = 1, 3 do coroutine.yield("item" .. i) end return nil end) end
local function consumer(p) local out = {} while true do local ok, v = coroutine.resume(p) if not v then break end out[#out + 1] = v end return table.concat(out, ",") end
print(consumer(producer()))
do
  local f
  local c = coroutine.wrap(function() local x = 1 f = function() x = x + 1 return x end coroutine.yield() x = 10 coroutine.yield() end)
  c() print(f()) c() print(f()) c() print(f())
end
do
  local f
  local c = coroutine.create(function() local x = 1 f = function() x = x + 1 return x end error("die") end)
  print(coroutine.resume(c)) print(f(), f())
end
print(coroutine.resume(coroutine.create(function(...) return select('#', ...), ... end), nil, nil))
co = coroutine.create(function(...) local a = {...} while true do a = {coroutine.yield(unpack(a))} end end)
print(coroutine.resume(co, 1, 2)) print(coroutine.resume(co)) print(coroutine.resume(co, nil, 3))
local depth = 0
local function deep() depth = depth + 1 if depth < 20 then return coroutine.wrap(deep)() end return "bottom" end
print(deep())
do -- fewer values than variables, and a machine that needs room right after
  local grow = setmetatable({}, {__index = function(t, k)
    local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end
    return f(300)
  end})
  local function inner() return coroutine.yield() end
  local co = coroutine.wrap(function()
    local t = grow
    local a, b, c = coroutine.yield()
    local n = t.x
    print(a == nil, b == nil, c == nil, n)
    local d, e, f = inner()
    n = t.x
    print(d, e == nil, f == nil, n)
    local g, h = 1, coroutine.yield()
    n = t.x
    print(g, h == nil, n, (coroutine.yield()) == nil)
    print(select('#', coroutine.yield()), select('#', inner()))
    local i = coroutine.yield()
    local j = -i
  end)
  co() co() co(1) co() co() co() co()
  print(pcall(co))
end
co = coroutine.create(function(x) local y = coroutine.yield(x) if -y - x == 1 then return x end end)
print(coroutine.resume(co, 0)) print(coroutine.resume(co))
co = coroutine.create(function(x) local y = coroutine.yield(x) return #y end)
print(coroutine.resume(co, 0)) print(coroutine.resume(co))
do -- more values than are taken
  local Y = coroutine.yield
  local function first() return (Y(1)) end
  for _, f in ipairs{first, function() return first() end, function() local a = Y(1) return a end, function() print((Y(1))) return Y(2) end,
    function() return Y(1), (Y(2)) end, function() return {(Y(1))} end} do
    local co = coroutine.create(f)
    while coroutine.status(co) ~= "dead" do
      local ok, a, b, c, d = coroutine.resume(co, 5, 6, 7)
      print(ok, type(a) == "table" and #a or a, b, c, d)
    end
  end
end
