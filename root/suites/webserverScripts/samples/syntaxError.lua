-- /samples.syntaxError.fcgi: what happens when a script cannot be compiled.
if true
	return "then is missing above"
end
