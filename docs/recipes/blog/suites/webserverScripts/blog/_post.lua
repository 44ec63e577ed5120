-- GET /blog/{key}: one post. What an editor wrote is Markdown, without HTML of its own.
local post = records.get ("user.blog", (...).path.key)
if not post then return webserver.fileNotFoundError () end
return webserver.processMacros ([[<!--#layout (suites.webserverScripts.blog._layout)-->
<!--#block title--><!--#post.title--><!--#end-->
<h1><!--#post.title--></h1><!--#raw (post.html)--><p>By <!--#post.by--></p>]],
	{post = {title = post.title, by = post.by, html = markdown.html (post.text)}})
