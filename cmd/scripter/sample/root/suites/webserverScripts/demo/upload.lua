-- /demo.upload.fcgi: stores a picture as a binary of the root, and shows the last twenty-four.
local params = ...
local demo = suites.webserverScripts.demo
local here = "/demo.upload.fcgi"
local most, largest = 24, 1024 * 1024

-- SVG is none of these, because it can hold scripts.
local types = {["image/png"] = true, ["image/jpeg"] = true, ["image/gif"] = true, ["image/webp"] = true}

local problem, status
if params.method == "POST" then
	local file = params.files.picture
	if not file or file.size == 0 then
		status, problem = 400, "Please choose a picture."
	elseif file.size > largest then
		status = 413
		problem = string.format ("The picture has %.1f MB. It must not have more than 1 MB.", file.size / largest)
	elseif not types [file.type] then -- that of its bytes: its name and what the browser says may lie
		status, problem = 415, "This is no PNG, JPEG, GIF or WebP picture."
	else
		local picture = odb.binary (file.bytes (), file.type)
		odb.append ("user.demo.pictures", {name = text.sub (file.name, 1, 60), picture = picture, at = clock.now ()})
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
