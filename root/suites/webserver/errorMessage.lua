-- webserver.errorMessage (message [, params])
-- The response of a failure, made from user.webserver.prefs.errorPage. The
-- message is made harmless.
-- > webserver.errorMessage ("out of <tea>", params):match ("<pre>(.-)</pre>")
-- = out of &lt;tea&gt;
return system.verbs.builtins.webserver.errorMessage (...)
