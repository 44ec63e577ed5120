-- Lists what a script can reach, one line each: name, a blank, type. Names of tables of
-- the root are followed only into the verbs.
local out, seen = {}, {}

local function walk (name, value)
	out [#out + 1] = name .. " " .. type (value)
	local meta = getmetatable (value)
	if meta then
		walk (name .. "/metatable", meta)
	end
	if type (value) ~= "table" or seen [value] then
		return
	end
	seen [value] = true
	local names = {}
	for k, v in pairs (value) do
		names [#names + 1] = tostring (k)
	end
	table.sort (names)
	for _, k in ipairs (names) do
		walk (name .. "." .. k, value [k])
	end
end

-- Every name that Lua 5.1 to 5.4, LuaJIT, gopher-lua, Frontier or a habit might give.
local words = {}
for word in ([[_ENV _G _GOPHER_LUA_VERSION _LOADED _PRELOAD _VERSION _printregs arg assert bit bit32 channel
	collectgarbage coroutine debug dofile error ffi file fileMenu gcinfo getfenv getmetatable httpd io ipairs jit json load
	loadfile loadstring lpeg math module net newproxy next odb os package pairs pcall print rawequal rawget
	rawlen rawset redis require select setfenv setmetatable socket string sys table tcp thread tonumber tostring
	type unpack utf8 warn xpcall]]):gmatch ("%S+") do
	words [#words + 1] = word
end
seen [_G] = true
for name in pairs (_G) do
	words [#words + 1] = name
end
table.sort (words)
local last
for _, word in ipairs (words) do
	local known, value = pcall (loadstring ("return " .. word))
	if word ~= last and known and value ~= nil then
		walk (word, value)
	end
	last = word
end
walk ("verbs", system.verbs.builtins)
for _, value in ipairs {user, suites, "", 0, true, walk, coroutine.create (walk)} do
	out [#out + 1] = "metatable of a " .. type (value) .. ": " .. tostring (getmetatable (value))
end
return table.concat (out, "\n")
