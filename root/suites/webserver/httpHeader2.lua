-- webserver.httpHeader2 ([status [, modifier [, seconds = 60 [, version]]]])
-- A copy of webserver.httpHeader that lets caches keep the page; without such
-- fields nothing of ours is kept. Only for pages that are the same for every
-- visitor; make a copy of your own where yours differ. The seconds say how
-- long a cache may answer without asking us: with 0 it asks each time, and
-- gets no body while the page is the same. The version tells that: the text
-- of the page, of which an ETag is made, or the date when it last changed;
-- without it there is a new version every so many seconds.
-- > webserver.httpHeader2 ():match ("Cache%-Control: [^\r]*")
-- = Cache-Control: public, max-age=60
-- > webserver.httpHeader2 ("200 OK", "text/html", 0, "the page"):match ("ETag: [^\r]*")
-- = ETag: "aafdd3f20726bac0993d94996c006d70"
local status, modifier, seconds, version = ...
seconds = math.floor (seconds or 60)
local control = "public, max-age=" .. seconds
if seconds == 0 then
	control = control .. ", must-revalidate"
end
local validator
if type (version) == "string" then
	validator = 'ETag: "' .. hash.sha256 (version):sub (1, 32) .. '"'
else
	local now = os.time ()
	validator = "Last-Modified: " .. date.http (version or odb.date (now - now % math.max (seconds, 1)))
end
return webserver.httpHeader (status, modifier):sub (1, -3)
	.. "Cache-Control: " .. control .. "\r\n"
	.. validator .. "\r\n\r\n"
