try (function () local a, b, c, d = tonumber (1.5) return a, b, c, d end)
try (function () local a, b = math.exp ("1") return round (a), round (b) end)
try (string.sub, "a,b,,c", -1e9)
do local f = pcall try (function () local a, b, c, d = f (nil, "") return a, b, c, d end) end
try (function () local a, b, c, d = string.find (12, "$") return a, b, c, d end)
do local f = coroutine.wrap try (function () local a, b, c, d = f (function () error ({}) end) return a, b, c, d end) end
try (function () local a, b, c, d = math.min (0.1) return a, b, c, d end)
try (function () local t = {1, 2, 3} show (pcall (function () return table.getn (t) end)) return t end)
-- comment
do local f = setmetatable try (function () local a, b, c, d = f ({1, {}, 3}, {__metatable = "m"}) return a, b, c, d end) end
try (function () local a, b, c, d = string.rep ("\0\1\2\255", 0) return a, b, c, d end)
try (function () local a, b, c, d = math.frexp (0.5) return a, b, c, d end)
try (function () local a, b = math.tan ("\n\t\r") return round (a), round (b) end)
try (function () local a, b, c, d = math.fmod (0.5, "0x10") return a, b, c, d end)
-- comment
try (function () local a, b, c, d = string.match ("  trim  ", "(()") return a, b, c, d end)
try (function () local a, b, c, d = error (65) return a, b, c, d end)
try (function () local a, b, c, d = string.match ("abc", "[z-a]") return a, b, c, d end)
try (function () local a, b, c, d = select (1e9, 0, 123456789.123, -3.99) return a, b, c, d end)
try (function () local a, b, c, d = os.date ("text", "1000") return a, b, c, d end)
try (function () local a, b, c, d = string.gsub ("\0\1\2\255", "%bx", function () return {} end) return a, b, c, d end)
try (function () local a, b = math.cos (10) return round (a), round (b) end)
