-- samples._page (title, body): the page of a sample. /style.css is the site's own, if it has one.
local title, body = ...
return [[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>]] .. html.escape (title) .. [[</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
<h1>]] .. html.escape (title) .. "</h1>\n" .. body .. "</main>\n<footer>\n<p><a href=\"/\">Home</a></p>\n</footer>\n</body>\n</html>\n"
