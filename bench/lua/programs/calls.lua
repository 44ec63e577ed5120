-- Calls: Fibonacci, Ackermann, tail calls, variable arguments, closures, pcall.
local function fib (n)
	if n < 2 then
		return n
	end
	return fib (n - 1) + fib (n - 2)
end

local function ackermann (m, n)
	if m == 0 then
		return n + 1
	elseif n == 0 then
		return ackermann (m - 1, 1)
	end
	return ackermann (m - 1, ackermann (m, n - 1))
end

local function loop (n, sum)
	if n == 0 then
		return sum
	end
	return loop (n - 1, sum + n)
end

local function add (...)
	local sum = 0
	for i = 1, select ("#", ...) do
		sum = sum + (select (i, ...))
	end
	return sum
end

local function compose (f, g)
	return function (...) return f (g (...)) end
end

local function increment (n) return n + 1 end

local function divide (a, b)
	if b == 0 then
		error ({code = "zero"})
	end
	return a / b
end

local sum, caught = 0, 0
local thrice = compose (increment, compose (increment, increment))
for i = 1, 60000 do
	sum = sum + add (i, 2, 3) + thrice (i)
	local ok, result = pcall (divide, i, i % 10)
	if ok then
		sum = sum + result
	else
		caught = caught + (result.code == "zero" and 1 or 0)
	end
end
return string.format ("%d %d %d %.3f %d", fib (27), ackermann (2, 200), loop (200000, 0), sum, caught)
