-- POST /gallery: keeps a picture in two sizes, turned upright and without its metadata.
local params = ...
local file = params.files.picture
local back = {status = 303, headers = {Location = url.to ("gallery")}}
if not file or file.size == 0 or not file.type:match ("^image/[jpgw]") then
	session.flash ("Please choose a picture: JPEG, PNG, GIF or WebP.")
	return back
end
records.shape ("user.gallery", {
	title = {required = true, trim = true, max = 80},
	small = {kind = "binary", required = true}, large = {kind = "binary", required = true},
})
local key, problems = records.add ("user.gallery", {
	title = params.argTable.title,
	small = image.resize (file, {width = 240, height = 240, fit = "cover"}),
	large = image.resize (file, {width = 1600, height = 1600}),
})
for field, problem in pairs (problems or {}) do session.flash (field .. " " .. problem) end
return back
