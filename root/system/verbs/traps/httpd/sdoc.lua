-- The trap of the SDOC event: every request that an action handles comes
-- here first. It gets the parameters and returns the response.
-- While this is as supplied, the gateway calls the verbs from Go; if you change it, it is run.
local params = ...
return webserver.handler (params)
