for _, t in ipairs({0, 1e9, 951782400, 1704067199, 1234567890, -86400}) do
  print(os.date("!%a %A %b %B %d %H %I %j %m %M %p %S %U %w %W %y %Y %%", t))
  print(os.date("!%c|%x|%X|%D|%e|%F|%R|%T|%C|%u|%V|%G|%g|%h|%n|%t", t))
  local d = os.date("!*t", t)
  print(d.year, d.month, d.day, d.hour, d.min, d.sec, d.wday, d.yday, d.isdst)
end
local now = os.time()
local d = os.date("*t", now)
print(os.time(d) == now, os.difftime(now + 5, now), type(os.clock()))
print(os.time({year = 2024, month = 2, day = 30}) == os.time({year = 2024, month = 3, day = 1}))
print(os.time({year = 2024, month = 14, day = 1, hour = 0}) == os.time({year = 2025, month = 2, day = 1, hour = 0}))
print(os.time({year = "2024", month = 1, day = 1, hour = 12}) == os.time({year = 2024, month = 1, day = 1}))
print(pcall(os.time, {year = 2024}))
print(#os.date() > 10)
