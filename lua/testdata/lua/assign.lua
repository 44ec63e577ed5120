-- Multiple assignment and assignment of what reads its own target.
local a, b = 1, 2
a, b = b, a
print(a, b)
local function gcd(m, n) while n ~= 0 do m, n = n, m % n end return m end
print(gcd(12, 18), gcd(1071, 462))
local x, y = 0, 1
for _ = 1, 10 do x, y = y, x + y end
print(x, y)
local i, t = 1, {10, 20, 30}
i, t[i] = i + 1, 99
print(i, t[1], t[2])
t[1], t[2], t[3] = t[3], t[1], t[2]
print(t[1], t[2], t[3])
local function three() return 1, 2, 3 end
local p, q, r, s = three()
print(p, q, r, s)
p, q, r, s = 0, three()
print(p, q, r, s)
p, q = three(), 9
print(p, q)
p, q, r = (three())
print(p, q, r)
p, q = 1
print(p, q)
p = 5, three()
print(p)
do
  local u, v, w = 1, true, 5
  u = not v and w
  print(u)
  u = v and w
  print(u)
  u = u == 5 or v
  print(u)
  u = not u
  print(u)
  u = (three())
  print(u)
  w = w and (three())
  print(w)
  w = nil or w
  print(w)
  w = false and w
  print(w)
  v = not not v
  print(v)
  u = nil
  u = u or u and v or 3
  print(u)
end
local function last(n) n = (tostring(n)) return n end
print(last(5))
local function last2(m, n) n = n .. m .. n return n end
print(last2(5, "x"))
local function swap(o) o.a, o.b = o.b, o.a return o end
local o = swap({a = 1, b = 2})
print(o.a, o.b)
local function side(log, v) log[#log + 1] = v return v end
local log, tt = {}, {}
tt[side(log, 1)], tt[side(log, 2)] = side(log, 3), side(log, 4)
print(table.concat(log, " "), tt[1], tt[2])
g1, g2 = 1, 2
g1, g2 = g2, g1
print(g1, g2)
local up1, up2 = 1, 2
local function exchange() up1, up2 = up2, up1 end
exchange()
print(up1, up2)
local c = {}
c.n, c = 1, {n = 2}
print(c.n)
local d = {1, 2}
d, d[1], d[2] = 7, 8, 9
print(d)
local function va(...) local m, n = ..., "e" return m, n, (...) end
print(va(1, 2, 3))
local function vb(...) local m, n, k m, n, k = ... return k, n, m end
print(vb(1, 2, 3))
print((function(...) return select('#', ...) end)(nil, nil, nil))
local e1 = 1
local e1 = e1 + 1
print(e1)
local f = "outer"
do local f = function() return f end print(f()) end
do local function f() return type(f) end print(f()) end
local big = 1
big = big + 1, 2
print(big)
local cond = true
local z = cond and 1 or 2
print(z)
cond = cond and not cond
print(cond)
local n1 = nil
local n2 = n1 and n1.x or "none"
print(n2)
n1 = n1 and n1.x
print(n1)
