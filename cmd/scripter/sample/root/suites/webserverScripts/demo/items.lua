-- /demo.items.fcgi: a JSON API. GET gives the list, or with ?id=… one item; POST adds one:
-- {"title": "…", "done": false}
local params = ...
local most = 100

local function answer (status, value, more)
	local headers = more or {}
	headers ["Content-Type"], headers ["Cache-Control"] = "application/json", "no-store"
	headers ["X-Content-Type-Options"] = "nosniff"
	return {status = status, headers = headers, body = json.encode (value) .. "\n"}
end

local function item (id, row)
	return {id = id, title = row.title, done = row.done}
end

if params.method == "GET" or params.method == "HEAD" then
	local id = params.searchTable.id
	if id then
		id = id:match ("^%d%d%d%d%d%d%d%d%d$")
		local row = id and odb.get (odb.address ("user.demo.items", id))
		if not row then
			return answer (404, {error = "there is no item with this id"})
		end
		return answer (200, item (id, row))
	end
	local list = odb.list ()
	for id, row in pairs (odb.get ("user.demo.items", {})) do
		list [#list + 1] = item (id, row)
	end
	return answer (200, list)
elseif params.method ~= "POST" then
	return answer (405, {error = "GET and POST only"}, {Allow = "GET, HEAD, POST"})
end

-- A page of another site can send a form, but not this type: the browser asks us first, and we do not agree.
if params.contentType:lower ():match ("^[^;%s]*") ~= "application/json" then
	return answer (415, {error = "send application/json"})
end
local read, sent = pcall (json.decode, params.postArgs)
if not read or type (sent) ~= "table" or not text.valid (params.postArgs) then
	return answer (400, {error = "the body is no JSON object"})
end
local title, done = sent.title, sent.done
if type (title) ~= "string" or not title:find ("%S") or text.length (title) > 200 then
	return answer (400, {error = "title is a text of 1 to 200 characters"})
elseif done ~= nil and type (done) ~= "boolean" then
	return answer (400, {error = "done is true or false"})
end
local id = odb.append ("user.demo.items", {title = title, done = done or false})
if #user.demo.items > most then -- visitors must not fill the root
	odb.delete (odb.address ("user.demo.items", (odb.nth (user.demo.items, 1))))
end
return answer (201, item (id, user.demo.items [id]), {Location = "/demo.items.fcgi?id=" .. id})
