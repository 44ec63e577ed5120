-- The largest singular value of an infinite matrix: number lists and calls.
local function a (i, j)
	local ij = i + j - 1
	return 1 / (ij * (ij - 1) * 0.5 + i)
end

local function multiply (x, y, n)
	for i = 1, n do
		local sum = 0
		for j = 1, n do
			sum = sum + x [j] * a (i, j)
		end
		y [i] = sum
	end
end

local function multiplyTransposed (x, y, n)
	for i = 1, n do
		local sum = 0
		for j = 1, n do
			sum = sum + x [j] * a (j, i)
		end
		y [i] = sum
	end
end

local n = 250
local u, v, t = {}, {}, {}
for i = 1, n do
	u [i] = 1
end
for _ = 1, 10 do
	multiply (u, t, n) multiplyTransposed (t, v, n)
	multiply (v, t, n) multiplyTransposed (t, u, n)
end
local vBv, vv = 0, 0
for i = 1, n do
	local ui, vi = u [i], v [i]
	vBv, vv = vBv + ui * vi, vv + vi * vi
end
return string.format ("%0.9f", math.sqrt (vBv / vv))
