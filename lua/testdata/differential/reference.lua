-- Runs generated programs with PUC Lua and prints what they print. Usage:
--
--	lua5.1 reference.lua prelude.lua <programs >outputs
--
-- Programs and outputs are each preceded by a line that gives their length.

local file = assert (io.open (arg [1]))
local prelude = assert (loadstring (file:read ("*a"), "=prelude"))
file:close ()
-- What the language of Scripter does not have.
local missing = {
	"print", "io", "dofile", "loadfile", "require", "package", "module", "getfenv", "setfenv", "newproxy",
	"collectgarbage", "gcinfo", "debug", "arg",
}
local kept = {print = print, read = io.read, write = io.write, setfenv = setfenv}
for _, name in ipairs (missing) do
	_G [name] = nil
end
string.dump, table.setn = nil, nil
os = {clock = os.clock, date = os.date, difftime = os.difftime, time = os.time}

local function run (source)
	local out = {}
	local world = setmetatable ({}, {__index = _G})
	world._G = world
	world.print = function (...)
		local line = {...}
		for i = 1, select ("#", ...) do
			line [i] = tostring (line [i])
		end
		out [#out + 1] = table.concat (line, "\t") .. "\n"
	end
	kept.setfenv (prelude, world) ()
	local f, message = loadstring (source, "=program")
	local ok = false
	if f then
		ok, message = pcall (kept.setfenv (f, world))
	end
	if not ok then
		out [#out + 1] = "error: " .. tostring (message) .. "\n"
	end
	return table.concat (out)
end

while true do
	local length = kept.read ("*n")
	if not length then
		break
	end
	kept.read (1)
	local output = run (length == 0 and "" or kept.read (length))
	kept.write (#output, "\n", output)
end
