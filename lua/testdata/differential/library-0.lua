try (function () local a, b, c, d = xpcall (function (...) return ... end, {}) return a, b, c, d end)
do local f = string.gsub try (function () local a, b, c, d = f ("\0", ".-", "%%") return a, b, c, d end) end

do local f = math.modf try (function () local a, b, c, d = f (7) return a, b, c, d end) end
try (function () local t = {a = 1} show (pcall (function () return table.foreachi (t, function () end) end)) return t end)
--[[ long
comment ]]
do local f = math.randomseed try (function () local a, b, c, d = f (-1.5) return a, b, c, d end) end
try (string.match, "key = value", "[^]]")
try (function () for a, b, c in string.gfind ("123", "$") do show (a, b, c) end end)
try (function () local a, b = math.asin (10) return round (a), round (b) end)
try (function () local a, b = math.cosh (0) return round (a), round (b) end)
try (math.max, nil, -1.5, nil)
try (function () local a, b, c, d = os.date ("!%d%e%j", 1709208000) return a, b, c, d end)
try (function () local t = {a = 1} show (pcall (function () return table.getn (t) end)) return t end)
do local f = string.format try (function () local a, b, c, d = f ("%.2s", "abc", "abc") return a, b, c, d end) end
try (function () local a, b = math.cosh ("1") return round (a), round (b) end)
try (function () local a, b = math.tanh ("1") return round (a), round (b) end)
try (function () local a, b, c, d = coroutine.yield (65) return a, b, c, d end)
try (function () local a, b, c, d = math.fmod (2^31, 2.5) return a, b, c, d end)
try (function () local a, b, c, d = string.find ("a", "%$") return a, b, c, d end)
try (function () local a, b, c, d = ("hello world"):match ("[a-%z]") return a, b, c, d end)
try (function () local a, b, c, d = table.foreachi ({"x"}, function (k, v) show (k, v) end) return a, b, c, d end)
