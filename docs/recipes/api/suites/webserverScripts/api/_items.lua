-- GET and POST /api/items: lists items, adds one.
local params = ...
if params.method == "GET" then
	local items, more = records.find ("user.items", {where = params.searchTable.done and {done = params.searchTable.done == "true"},
		order = "-added", limit = 50, after = params.searchTable.after})
	return json.reply ({items = items, after = more})
end
records.shape ("user.items", {
	title = {required = true, trim = true, max = 200}, done = {kind = "boolean", default = false},
	added = {kind = "date", default = "now"},
})
local sent = params.json
if type (sent) ~= "table" then return json.problem (400, "an item is a JSON object") end
local key, problems = records.add ("user.items", {title = sent.title, done = sent.done})
if problems then return json.problem (422, "the item is not right", {fields = problems}) end
return json.reply (records.get ("user.items", key), 201, {Location = url.to ("item", {key = key})})
