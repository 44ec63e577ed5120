-- POST /blog/new: an editor publishes a post.
local sent = (...).argTable
records.shape ("user.blog", {
	title = {required = true, trim = true, max = 80},
	text = {kind = "text", required = true, max = 20000},
	by = {required = true}, added = {kind = "date", default = "now"},
})
local post = {title = sent.title, text = sent.text, by = users.current ()}
local key, problems = records.add ("user.blog", post)
for field, problem in pairs (problems or {}) do session.flash (field .. " " .. problem) end
session.draft = not key and post or nil
return {status = 303, headers = {Location = key and url.to ("post", {key = key}) or url.to ("write")}}
