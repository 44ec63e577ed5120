-- The MACRO action: a page of the website folder, its markers replaced.
-- While this is as supplied, the gateway calls the verbs from Go; if you change it, it is run.
local params = ...
return webserver.httpHeader () .. webserver.expandPage (params)
