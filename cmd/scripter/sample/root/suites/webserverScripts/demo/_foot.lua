-- _foot (): what stands at the end of every page of the demo.
return [[
<footer>
<p><a href="/">Home</a></p>
<p>Every visitor may write here. <a href="/demo.readme.fcgi">How to remove the demo</a></p>
</footer>
]]
