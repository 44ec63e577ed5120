-- What the machine does otherwise than PUC Lua, and what is done about it.

-- "%" rounds as floor does, of infinity and of zero too
print(-4 % 2, 5 % -3, -5 % 3, 5.5 % 2, 1e15 % 7, 2^53 % 1001)
print(("%.17g %.17g"):format(5.3 % 0.1, -0.3 % 0.1))
for _, p in ipairs {{5, math.huge}, {-5, math.huge}, {math.huge, 2}, {1, 0}} do
  local r = p[1] % p[2]
  print(r ~= r)
end

-- strings are numbers in arithmetic, as tonumber reads them
print("0x10" + 1, " 5 " * "2", -"3", "1e1" / 4, "7" % "4", "2" ^ "3", 10 - "1")
print(pcall(function() return "1_0" + 1 end))
print(pcall(function() local s = "abc" return s * 2 end))
print(pcall(function() local t = {} return "5" + t end))
local m = setmetatable({}, {__add = function(a, b) return type(a) .. type(b) end})
print("5" + m, m + "5")

-- bounds of for
for i = "1", "3" do io.write(i, " ") end
for i = 3, "1", "-1" do io.write(i, " ") end
print()
print(pcall(function() for i = "x", 2 do end end))
print(pcall(function() for i = 1, {} do end end))
print(pcall(function() for i = 1, 2, "y" do end end))
print(pcall(function() for i = nil, nil, nil do end end))

-- a yield that is given nothing gives nil
local co = coroutine.wrap(function()
  local a, b, c = coroutine.yield(1)
  local function f() return (coroutine.yield(2)) end
  local d = f()
  G = d
  return a == nil, b == nil, c == nil, d == nil, select("#", coroutine.yield(3))
end)
print(co(), co(), co(), co())

-- a table whose end is cut while it is walked
local t = {1, 2, 3, 4, 5, x = 1, y = 2, z = 3}
local seen = 0
for k in pairs(t) do t[k] = nil local n = #t seen = seen + 1 end
print(seen, next(t))
local stack = {}
for i = 1, 50000 do stack[#stack + 1] = i end
local sum = 0
while #stack > 0 do sum = sum + stack[#stack] stack[#stack] = nil end
print(sum, #stack)

-- loops over what a call gives
local function iterators() return {list = ipairs} end
for i, v in iterators().list({"a", "b"}) do io.write(i, v, " ") end
for w in (function() return "x y" end)():gmatch("%a") do io.write(w, " ") end
local function chain() return function(t) return next, t end end
for k, v in chain()({7}) do io.write(k, v, "\n") end

-- methods of what is none
print(pcall(function() local s = 5 function s:m() end end))
print(pcall(function() local t = {} function t.u:m() end end))

-- deep calls
local function deep(n) if n == 0 then return 0 end return 1 + deep(n - 1) end
print(deep(9000))
-- a field of a constant is no field of a local
for _, s in ipairs{"('a').x = 5", "(1).x = 5", "(1 or t).x = 5", "('a')[t] = 5", "(true).x = 5", "(nil).x, t.y = 5, 6", "t.y, (7).z = 5, 6", "(-1).z = 6", "(1 + 1).x = nil", "('a')[t] = nil"} do
  print(s, pcall(loadstring("local t, u = {}, {} " .. s .. " return next(t), next(u)", "=s")))
end
-- the line of a constant that stands for several
for _, s in ipairs{"return 'x' .. (not\nfalse)", "local x = nil + (not not\n1)", "return 'x' ..\n(1 and\nnil)"} do print(pcall(loadstring(s, "=s"))) end
