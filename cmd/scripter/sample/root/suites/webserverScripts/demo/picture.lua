-- /demo.picture.fcgi?number=000000001: an uploaded picture.
local params = ...
local number = (params.searchTable.number or ""):match ("^%d%d%d%d%d%d%d%d%d$")
local row = number and odb.get (odb.address ("user.demo.pictures", number))
if not row then
	return webserver.fileNotFoundError (params)
end
return {
	headers = {
		["Cache-Control"] = "private, max-age=86400", -- a number never gets another picture
		["Content-Security-Policy"] = "default-src 'none'; sandbox",
	},
	body = row.picture, -- with its type, in ranges
}
