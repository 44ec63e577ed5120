-- POST /contact: keeps the message, and mails it to the owner and a receipt to the sender.
local sent = (...).argTable
records.shape ("user.contact", {
	email = {required = true, format = "email"},
	message = {kind = "text", required = true, trim = true, max = 5000},
	added = {kind = "date", default = "now"},
})
local draft = {email = sent.email, message = sent.message}
local key, problems = records.add ("user.contact", draft)
for field, problem in pairs (problems or {}) do session.flash (field .. " " .. problem) end
session.draft = not key and draft or nil
if key then
	mail.send ({to = user.contactMail.owner, reply_to = sent.email, subject = "A message from the site", text = sent.message})
	mail.send ({to = sent.email, subject = "Your message", text = "Thank you. You wrote:\n\n" .. sent.message})
	session.flash ("Thank you. We will answer soon.")
end
return {status = 303, headers = {Location = url.to ("contact")}}
