-- POST /hooks/payments: takes a signed event once, and does the work after the answer.
local params = ...
local want = "sha256=" .. hash.hmac (user.webhook.secret, params.postArgs)
if not hash.equal (params.headers ["x-signature"] or "", want) then
	return json.problem (401, "the signature is wrong")
end
local event = params.json
if type (event) ~= "table" or type (event.id) ~= "string" then return json.problem (422, "an event has an id") end
if not user.webhook.events [event.id] then -- a sender that got no answer sends again
	user.webhook.events [event.id] = {kind = event.kind or "", amount = event.amount or 0, received = clock.now ()}
	after (0, suites.webserverScripts.webhook._work, event.id)
end
return json.reply (nil, 204)
