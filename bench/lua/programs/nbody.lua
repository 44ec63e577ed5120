-- The orbits of the sun and four planets: arithmetic on the fields of records.
local PI = math.pi
local SOLAR_MASS, DAYS = 4 * PI * PI, 365.24

local function body (x, y, z, vx, vy, vz, mass)
	return {x = x, y = y, z = z, vx = vx * DAYS, vy = vy * DAYS, vz = vz * DAYS, mass = mass * SOLAR_MASS}
end

local bodies = {
	body (0, 0, 0, 0, 0, 0, 1),
	body (4.84143144246472090, -1.16032004402742839, -0.103622044471123109,
		0.00166007664274403694, 0.00769901118419740425, -0.0000690460016972063023, 0.000954791938424326609),
	body (8.34336671824457987, 4.12479856412430479, -0.403523417114321381,
		-0.00276742510726411040, 0.00499852801234917238, 0.0000230417297573763929, 0.000285885980666130812),
	body (12.8943695621391310, -15.1111514016986312, -0.223307578892655734,
		0.00296460137564761618, 0.00237847173959480950, -0.0000296589568540237556, 0.0000436624404335156298),
	body (15.3796971148509165, -25.9193146099879641, 0.179258772950371181,
		0.00268067772490389322, 0.00162824170038242295, -0.0000951592254519715870, 0.0000515138902046611451),
}

local function advance (dt)
	local n = #bodies
	for i = 1, n do
		local a = bodies [i]
		local ax, ay, az, mass = a.x, a.y, a.z, a.mass
		local vx, vy, vz = a.vx, a.vy, a.vz
		for j = i + 1, n do
			local b = bodies [j]
			local dx, dy, dz = ax - b.x, ay - b.y, az - b.z
			local square = dx * dx + dy * dy + dz * dz
			local force = dt / (square * math.sqrt (square))
			local bm = b.mass * force
			vx, vy, vz = vx - dx * bm, vy - dy * bm, vz - dz * bm
			bm = mass * force
			b.vx, b.vy, b.vz = b.vx + dx * bm, b.vy + dy * bm, b.vz + dz * bm
		end
		a.vx, a.vy, a.vz = vx, vy, vz
		a.x, a.y, a.z = ax + dt * vx, ay + dt * vy, az + dt * vz
	end
end

local function energy ()
	local e = 0
	for i, a in ipairs (bodies) do
		e = e + 0.5 * a.mass * (a.vx ^ 2 + a.vy ^ 2 + a.vz ^ 2)
		for j = i + 1, #bodies do
			local b = bodies [j]
			e = e - a.mass * b.mass / math.sqrt ((a.x - b.x) ^ 2 + (a.y - b.y) ^ 2 + (a.z - b.z) ^ 2)
		end
	end
	return e
end

local px, py, pz = 0, 0, 0
for _, b in ipairs (bodies) do
	px, py, pz = px + b.vx * b.mass, py + b.vy * b.mass, pz + b.vz * b.mass
end
bodies [1].vx, bodies [1].vy, bodies [1].vz = -px / SOLAR_MASS, -py / SOLAR_MASS, -pz / SOLAR_MASS

local before = energy ()
for _ = 1, 40000 do
	advance (0.01)
end
return string.format ("%.9f %.9f", before, energy ())
