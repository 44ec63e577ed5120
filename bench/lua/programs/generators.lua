-- Coroutines as generators: permutations, a tree walked, a pipeline of filters.
local function permutations (list)
	local function generate (n)
		if n <= 1 then
			coroutine.yield (list)
			return
		end
		for i = 1, n do
			list [n], list [i] = list [i], list [n]
			generate (n - 1)
			list [n], list [i] = list [i], list [n]
		end
	end
	return coroutine.wrap (function () generate (#list) end)
end

local seen, sum = 0, 0
for p in permutations {1, 2, 3, 4, 5, 6, 7, 8} do
	seen = seen + 1
	sum = (sum * 7 + p [1] * 10 + p [7]) % 1000003
end

local function insert (tree, key)
	if not tree then
		return {key = key}
	elseif key < tree.key then
		tree.left = insert (tree.left, key)
	elseif key > tree.key then
		tree.right = insert (tree.right, key)
	end
	return tree
end

local function walk (tree)
	if tree then
		walk (tree.left)
		coroutine.yield (tree.key)
		walk (tree.right)
	end
end

local tree, key = nil, 1
for _ = 1, 4000 do
	key = (key * 16807) % 65537
	tree = insert (tree, key)
end
local last, nodes = 0, 0
for k in coroutine.wrap (function () walk (tree) end) do
	assert (k > last)
	last, nodes = k, nodes + 1
end

local function numbers (most)
	return coroutine.wrap (function ()
		for i = 2, most do
			coroutine.yield (i)
		end
	end)
end

local function without (source, prime)
	return coroutine.wrap (function ()
		for n in source do
			if n % prime ~= 0 then
				coroutine.yield (n)
			end
		end
	end)
end

local source, primes = numbers (5000), {}
while true do
	local prime = source ()
	if not prime then
		break
	end
	primes [#primes + 1] = prime
	if prime < 40 then
		source = without (source, prime)
	end
end

local made = 0
for i = 1, 3000 do -- short-lived ones
	local co = coroutine.create (function (a) local b = coroutine.yield (a + 1) return b * 2 end)
	local _, a = coroutine.resume (co, i)
	local _, b = coroutine.resume (co, a)
	made = made + b
end
return table.concat ({seen, sum, nodes, last, #primes, primes [#primes], made}, " ")
