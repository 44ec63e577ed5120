-- GET, PATCH and DELETE /api/items/{key}: one item.
local params = ...
local key = params.path.key
if not records.get ("user.items", key) then return json.problem (404, "there is no such item", {key = key}) end
if params.method == "DELETE" then
	records.remove ("user.items", key)
	return json.reply (nil, 204)
elseif params.method == "PATCH" then
	local sent = params.json
	if type (sent) ~= "table" then return json.problem (400, "a change is a JSON object") end
	local done, problems = records.update ("user.items", key, {title = sent.title, done = sent.done})
	if problems then return json.problem (422, "the change is not right", {fields = problems}) end
end
return json.reply (records.get ("user.items", key))
