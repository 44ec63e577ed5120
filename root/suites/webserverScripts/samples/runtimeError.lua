-- /samples.runtimeError.fcgi: what happens when a script fails. Nothing of
-- what it wrote stays.
scratchpad.runtimeErrorWasHere = true
local nothing = nil
return nothing.something
