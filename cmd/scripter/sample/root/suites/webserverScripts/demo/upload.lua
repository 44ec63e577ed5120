-- /demo.upload.fcgi: stores a picture as a binary of the root, and shows the last twenty-four.
local params = ...
local demo = suites.webserverScripts.demo
local here = "/demo.upload.fcgi"
local most, largest = 24, 1024 * 1024

-- The type of a picture, by its first bytes: its name and what the browser says may lie. SVG is none of these,
-- because it can hold scripts.
local function pictureType (data)
	if data:sub (1, 8) == "\137PNG\r\n\26\n" then
		return "image/png"
	elseif data:sub (1, 3) == "\255\216\255" then
		return "image/jpeg"
	elseif data:find ("^GIF8[79]a") then
		return "image/gif"
	elseif data:find ("^RIFF....WEBP") then
		return "image/webp"
	end
end

local problem, status
if params.method == "POST" then
	local file = params.files.picture
	local data = file and file.data or ""
	local type = pictureType (data)
	if data == "" then
		status, problem = 400, "Please choose a picture."
	elseif #data > largest then
		status = 413
		problem = string.format ("The picture has %.1f MB. It must not have more than 1 MB.", #data / largest)
	elseif not type then
		status, problem = 415, "This is no PNG, JPEG, GIF or WebP picture."
	else
		-- Some browsers send a whole path. The name is only shown: it never names a file or an object.
		local name = file.filename:match ("[^/\\]*$"):gsub ("%c", "")
		name = text.valid (name) and text.sub (name, 1, 60) or ""
		odb.append ("user.demo.pictures", {name = name, picture = odb.binary (data, type), at = clock.now ()})
		if #user.demo.pictures > most then
			odb.delete (odb.address ("user.demo.pictures", (odb.nth (user.demo.pictures, 1))))
		end
		session.flash ("Stored.")
		return {status = 303, headers = {Location = here}}
	end
end

local list = {}
for number, row in pairs (odb.get ("user.demo.pictures", {})) do
	local name = row.name == "" and "a picture" or html.escape (row.name)
	local url = "/demo.picture.fcgi?number=" .. number
	table.insert (list, 1, '<li>\n<a href="' .. url .. '"><img src="' .. url .. '" alt="' .. name
		.. '" loading="lazy"></a>\n<p>' .. name .. "</p>\n</li>\n")
end
return demo._page ("Pictures", [[
<p class="lead">A file becomes a binary of the root, and is served from there.</p>
]] .. demo._messages () .. [[
<form class="box" method="post" action="]] .. here .. [[" enctype="multipart/form-data">
]] .. form.token () .. "\n" .. (problem and '<p class="problem" role="alert">' .. problem .. "</p>\n" or "") .. [[
<label for="picture">PNG, JPEG, GIF or WebP, 1 MB at most</label>
<input id="picture" name="picture" type="file" accept="image/png,image/jpeg,image/gif,image/webp" required>
<button>Upload</button>
</form>
<section aria-labelledby="pictures">
<h2 id="pictures">The last pictures</h2>
]] .. (#list > 0 and '<ul class="pictures">\n' .. table.concat (list) .. "</ul>\n"
	or '<p class="none">No pictures yet.</p>\n') .. "</section>\n", {"upload", "picture", "_messages", "_page"}, status)
