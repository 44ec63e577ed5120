-- The trap of the SDOC event: every request that an action handles comes
-- here first. It gets the parameters and returns the response.
local params = ...
return webserver.handler (params)
