-- What messages call an operand that "and", "or" and "not" have made: it depends
-- on the code that the compiler makes of them.
local leaves = {"n", "f", "t", "g", "tb.x", "true", "nil", "(1==1)", "(1==2)", "not n", "up", "1"}
local ops = {"and", "or"}
local uses = {"return (E) .. 'x'", "return (E) + 1", "return 1 - (E)", "local z = (E)()", "return (E).x", "local z = (E):m()", "return #(E)", "return -(E)", "return 'x' .. (E) .. 'y'", "(E).x = 1"}
local nth = 0
local function try(e)
  nth = nth % #uses + 1
  local use = uses[nth]:gsub("E", function() return e end)
  local f = assert(loadstring("local up = nil return function() local n, f, t, tb = nil, false, true, {} " .. use .. " end", "=s"))
  local ok, m = pcall(f())
  if not ok then print(e, m) end
end
local seed = 12345
local function random(n) seed = (seed * 16807) % 2147483647 return seed % n + 1 end
local function make(k)
  if k == 1 then
    local l = leaves[random(#leaves)]
    if random(10) == 1 then return "(not " .. l .. ")" end
    return l
  end
  local l = random(k - 1)
  local s = "(" .. make(l) .. " " .. ops[random(2)] .. " " .. make(k - l) .. ")"
  if random(12) == 1 then s = "(not " .. s .. ")" end
  return s
end
for i = 1, 400 do try(make(random(5) + 1)) end
