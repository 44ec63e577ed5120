-- A Pratt parser with an evaluator: tokens by patterns, closures by name, trees.
local function tokens (source)
	local list, at = {}, 1
	while true do
		local _, after = source:find ("^%s+", at)
		at = after and after + 1 or at
		if at > #source then
			break
		end
		local number = source:match ("^%d+%.?%d*", at)
		local name = source:match ("^[%a_][%w_]*", at)
		if number then
			list [#list + 1] = {kind = "number", value = tonumber (number)}
			at = at + #number
		elseif name then
			list [#list + 1] = {kind = "name", value = name}
			at = at + #name
		else
			list [#list + 1] = {kind = source:sub (at, at)}
			at = at + 1
		end
	end
	list [#list + 1] = {kind = "end"}
	return list
end

local prefix, infix, power = {}, {}, {}

local Parser = {}
Parser.__index = Parser

function Parser:peek ()
	return self.tokens [self.at]
end

function Parser:take (kind)
	local token = self.tokens [self.at]
	if kind and token.kind ~= kind then
		error ("expected " .. kind .. ", found " .. token.kind, 0)
	end
	self.at = self.at + 1
	return token
end

function Parser:expression (right)
	local token = self:take ()
	local parse = prefix [token.kind]
	if not parse then
		error ("unexpected " .. token.kind, 0)
	end
	local left = parse (self, token)
	while right < (power [self:peek ().kind] or 0) do
		token = self:take ()
		left = infix [token.kind] (self, left, token)
	end
	return left
end

function prefix.number (_, token)
	return {op = "number", value = token.value}
end

function prefix.name (_, token)
	return {op = "name", value = token.value}
end

prefix ["-"] = function (parser)
	return {op = "negate", parser:expression (50)}
end

prefix ["("] = function (parser)
	local inner = parser:expression (0)
	parser:take (")")
	return inner
end

local function binary (op, strength, rightFirst)
	power [op] = strength
	infix [op] = function (parser, left)
		return {op = op, left, parser:expression (rightFirst and strength - 1 or strength)}
	end
end

binary ("+", 10) binary ("-", 10) binary ("*", 20) binary ("/", 20) binary ("^", 60, true)

power ["("] = 70
infix ["("] = function (parser, left)
	local call = {op = "call", left}
	while parser:peek ().kind ~= ")" do
		call [#call + 1] = parser:expression (0)
		if parser:peek ().kind == "," then
			parser:take ()
		end
	end
	parser:take (")")
	return call
end

local evaluate
local names = {x = 3, y = 4, max = math.max, abs = math.abs}
local operators = {
	number = function (node) return node.value end,
	name = function (node) return names [node.value] end,
	negate = function (node) return -evaluate (node [1]) end,
	["+"] = function (node) return evaluate (node [1]) + evaluate (node [2]) end,
	["-"] = function (node) return evaluate (node [1]) - evaluate (node [2]) end,
	["*"] = function (node) return evaluate (node [1]) * evaluate (node [2]) end,
	["/"] = function (node) return evaluate (node [1]) / evaluate (node [2]) end,
	["^"] = function (node) return evaluate (node [1]) ^ evaluate (node [2]) end,
	call = function (node)
		local arguments = {}
		for i = 2, #node do
			arguments [i - 1] = evaluate (node [i])
		end
		return evaluate (node [1]) (unpack (arguments))
	end,
}

function evaluate (node)
	return operators [node.op] (node)
end

local function parse (source)
	local parser = setmetatable ({tokens = tokens (source), at = 1}, Parser)
	local tree = parser:expression (0)
	parser:take ("end")
	return tree
end

local sources = {}
for i = 1, 40 do
	sources [i] = "max (" .. i .. " * (x + y) - 2 ^ 3 ^ 0.5 / 7, abs (-x * " .. i .. ")) + (1.5 - y) * -(" .. i .. " / x)"
end
sources [41] = "1 + )"
sources [42] = "max (1, 2"

local sum, failures = 0, {}
for _ = 1, 60 do
	for _, source in ipairs (sources) do
		local ok, tree = pcall (parse, source)
		if ok then
			for _ = 1, 4 do
				sum = sum + evaluate (tree)
			end
		else
			failures [tree] = (failures [tree] or 0) + 1
		end
	end
end
return string.format ("%.6f %d %d", sum, failures ["unexpected )"], failures ["unexpected end"])
