-- nightly (): mails what the guestbook got since the last report, and keeps the text.
local list = records.find ("user.guestbook", {where = {added = {">", odb.get ("user.reportMail.last", odb.date (0))}}, limit = 1000})
local lines = {#list .. " new entries"}
for _, entry in ipairs (list) do lines [#lines + 1] = "- " .. entry.name .. ": " .. entry.message end
user.reportMail.text = odb.text (table.concat (lines, "\n"))
user.reportMail.last = clock.now ()
mail.send ({to = user.reportMail.to, subject = "Guestbook: " .. lines [1], text = table.concat (lines, "\n")})
return lines [1]
