-- JSON encoded and decoded: string.find, string.sub, gsub, and tables of names.
local escapes = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t"}
local unescapes = {['"'] = '"', ["\\"] = "\\", ["/"] = "/", n = "\n", t = "\t"}

local function encodeString (s)
	return '"' .. s:gsub ('[%c"\\]', escapes) .. '"'
end

local encode

local function encodeTable (t, out)
	if #t > 0 then
		out [#out + 1] = "["
		for i, v in ipairs (t) do
			if i > 1 then
				out [#out + 1] = ","
			end
			encode (v, out)
		end
		out [#out + 1] = "]"
		return
	end
	local names = {}
	for name in pairs (t) do
		names [#names + 1] = name
	end
	table.sort (names)
	out [#out + 1] = "{"
	for i, name in ipairs (names) do
		if i > 1 then
			out [#out + 1] = ","
		end
		out [#out + 1] = encodeString (name) .. ":"
		encode (t [name], out)
	end
	out [#out + 1] = "}"
end

function encode (v, out)
	local kind = type (v)
	if kind == "table" then
		encodeTable (v, out)
	elseif kind == "string" then
		out [#out + 1] = encodeString (v)
	else
		out [#out + 1] = tostring (v)
	end
end

local decode

local function skip (s, at)
	return s:find ("[^ \t\r\n]", at)
end

local function decodeString (s, at)
	local parts, from = {}, at + 1
	while true do
		local stop = s:find ('["\\]', from)
		parts [#parts + 1] = s:sub (from, stop - 1)
		if s:byte (stop) == 34 then
			return table.concat (parts), stop + 1
		end
		parts [#parts + 1] = unescapes [s:sub (stop + 1, stop + 1)]
		from = stop + 2
	end
end

local function decodeList (s, at)
	local list = {}
	at = skip (s, at + 1)
	while s:sub (at, at) ~= "]" do
		list [#list + 1], at = decode (s, at)
		at = skip (s, at)
		if s:sub (at, at) == "," then
			at = skip (s, at + 1)
		end
	end
	return list, at + 1
end

local function decodeRecord (s, at)
	local record, name = {}, nil
	at = skip (s, at + 1)
	while s:sub (at, at) ~= "}" do
		name, at = decodeString (s, at)
		at = skip (s, at)
		record [name], at = decode (s, skip (s, at + 1))
		at = skip (s, at)
		if s:sub (at, at) == "," then
			at = skip (s, at + 1)
		end
	end
	return record, at + 1
end

function decode (s, at)
	local c = s:sub (at, at)
	if c == "{" then
		return decodeRecord (s, at)
	elseif c == "[" then
		return decodeList (s, at)
	elseif c == '"' then
		return decodeString (s, at)
	elseif s:sub (at, at + 3) == "true" then
		return true, at + 4
	elseif s:sub (at, at + 4) == "false" then
		return false, at + 5
	end
	local digits = s:match ("^-?%d+%.?%d*[eE]?[+-]?%d*", at)
	return tonumber (digits), at + #digits
end

local people = {}
for i = 1, 400 do
	people [i] = {
		name = "Person " .. i,
		note = 'says "hello"\nand\tgoes\\away',
		age = i % 90,
		ratio = i / 8,
		member = i % 3 == 0,
		tags = {"a" .. i, "b" .. i * 2, "c"},
		address = {street = "Main Street " .. i, town = "Town", zip = tostring (10000 + i)},
	}
end

local text, length = "", 0
for _ = 1, 6 do
	local out = {}
	encode (people, out)
	text = table.concat (out)
	length = length + #text
	people = decode (text, 1)
end
local sum = 0
for i = 1, #text, 7 do
	sum = (sum * 31 + text:byte (i)) % 1000003
end
return length .. " " .. sum .. " " .. people [400].address.street
