-- POST /guestbook: adds an entry, or keeps the form for another try.
local sent = (...).argTable
records.shape ("user.guestbook", {
	name = {required = true, trim = true, max = 40},
	message = {kind = "text", required = true, trim = true, max = 500},
	added = {kind = "date", default = "now"},
})
local entry = {name = sent.name, message = sent.message}
local key, problems = records.add ("user.guestbook", entry)
for field, problem in pairs (problems or {}) do session.flash (field .. " " .. problem) end
session.draft = not key and entry or nil
return {status = 303, headers = {Location = url.to ("guestbook")}}
