-- webserver.util.buildErrorPage (short, long)
-- A small page: the short text as title and heading, the long one as a
-- paragraph. Both are made harmless.
-- > webserver.util.buildErrorPage ("404 Not Found", "No <tea> here."):match ("<p>.*</p>")
-- = <p>No &lt;tea&gt; here.</p>
local short, long = ...
short, long = html.escape (short), html.escape (long)
return "<!DOCTYPE html>\n<html>\n<head><title>" .. short .. "</title></head>\n<body>\n<h1>" .. short
	.. "</h1>\n<p>" .. long .. "</p>\n</body>\n</html>\n"
