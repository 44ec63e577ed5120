-- _work (id): what an event means for the site. It runs once for each event.
local event = user.webhook.events [...]
if event.kind == "paid" then user.webhook.total = user.webhook.total + event.amount end
event.done = clock.now ()
