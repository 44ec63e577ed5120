-- /counter.svg.fcgi?name=home: the next count of a counter as a picture, for
-- <img src="/counter.svg.fcgi?name=home"> in any page. It only counts what has
-- been counted before, or was set up at user.webserver.counters: a visitor
-- must not fill the root with names.
local params = ...
local name = params.searchTable.name
local folder = params.websiteFolder
if folder == "" then
	folder = "default"
end
if type (name) ~= "string" or name == "" or not odb.defined (odb.address ("user.webserver.counters", folder, name)) then
	return webserver.fileNotFoundError (params)
end
return {
	headers = {["Content-Type"] = "image/svg+xml"},
	body = suites.webserver.macros.counterPicture (name, folder),
}
