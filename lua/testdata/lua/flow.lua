-- Loops, constant conditions, breaks.
local function first() for k, v in pairs({1, 2}) do while true do break end end return "end" end
print(first())
local function second() for i = 1, 3 do repeat break until false end return "end" end
print(second())
local n = 0
while true do if n > 3 then break end n = n + 1 end
print(n)
while 1 do break end
while nil do print("never") end
while false do print("never") end
repeat n = n + 1 until true
print(n)
repeat local k = n n = n + 1 until k > 6
print(n)
if true then print("yes") else print("no") end
if false then print("yes") elseif nil then print("no") else print("else") end
if not true then print("yes") elseif 0 then print("zero is true") end
if nil and x.y then print("no") else print("short") end
print(true and 1, false and 1, nil and 1, 1 and 2, false or 3, nil or nil, 1 or 2, not nil == true)
print((true and (function() return 1, 2 end)()))
print(false or (function() return 1, 2 end)())
for i = 10, 1, -3 do io.write(i, " ") end print()
for i = 1, 0 do print("never") end
for i = 1, 3 do local i = i * 2 io.write(i, " ") end print()
for i = 0.1, 0.45, 0.1 do io.write(i, " ") end print()
for k in next, {a = 1} do print(k) end
for k, v in next, {5} do print(k, v) end
do local j1, j2, j3, j4, j5, j6, j7, j8 = 1, 2, 3, 4, 5, 6, "x", "y" end
for k, v in next, {b = 2} do print(k, v) end
local function pair() return {c = 3}, nil end
for k in next, pair() do print(k) end
for k, v in next, pair() do print(k, v) end
local function iter(s, c) if c < s then return c + 1 end end
for i in iter, 3, 0 do io.write(i, " ") end print()
for a, b, c, d in function(_, i) if not i then return 1, 2, 3 end end do print(a, b, c, d) end
for w in ("one two three"):gmatch("%a+") do io.write(w, ".") end print()
for i = 1, 3 do for j = 1, 3 do if j == 2 then break end io.write(i, ":", j, " ") end end print()
do do do while true do do break end end end end end
for i = 1, 2 do while true do if i then break else print("no") end end io.write(i, " ") end print()
for i = 1, 2 do repeat if i == 1 then break end io.write("two ") until true end print()
local function ret() while true do return "r" end end
print(ret())
local function ret2() for i = 1, 2 do do return i end end end
print(ret2())
local function empty() for _ in pairs({}) do end while false do end repeat until true end
print(empty())
local t = {}
for i = 1, 5 do t[i] = i if i == 3 then break end end
print(#t)
local s = 0
for i = 1, 3 do
  local j = 0
  while true do
    j = j + 1
    if j > i then break end
    s = s + j
  end
end
print(s)
local function f(x) if x == 1 then return "one" elseif x == 2 then return "two" elseif x == 3 then return "three" else return "many" end end
print(f(1), f(2), f(3), f(4))
local k = 0
repeat
  local stop = k >= 2
  k = k + 1
  if k == 10 then break end
until stop
print(k)
while true do
  while true do break end
  break
end
repeat
  repeat break until false
until true
for _ = 1, 1 do repeat while true do break end until true end
for k in pairs({1}) do if true then break end end
for k in pairs({1}) do if k then end end
for k in pairs({1}) do do end end
print "done"
