-- GET /gallery/{key}/{size}: a picture.
local path = (...).path
local photo = records.get ("user.gallery", path.key)
local picture = photo and (path.size == "small" or path.size == "large") and photo [path.size]
return picture or webserver.fileNotFoundError ()
