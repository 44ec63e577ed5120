-- An operating system's scheduler after Martin Richards: objects and closures.
local IDLE, WORKER, HANDLER_A, HANDLER_B, DEVICE_A, DEVICE_B = 1, 2, 3, 4, 5, 6
local KIND_DEVICE, KIND_WORK = 1, 2

local Packet = {}
Packet.__index = Packet

local function newPacket (link, id, kind)
	return setmetatable ({link = link, id = id, kind = kind, datum = 0, data = {0, 0, 0, 0}}, Packet)
end

function Packet:appendTo (list)
	self.link = nil
	if list == nil then
		return self
	end
	local p = list
	while p.link do
		p = p.link
	end
	p.link = self
	return list
end

local Task = {}
Task.__index = Task

local Scheduler = {tasks = {}, list = nil, current = nil, held = 0, queued = 0}

local function newTask (id, priority, queue, behaviour)
	local t = setmetatable ({id = id, priority = priority, input = queue, link = Scheduler.list,
		waiting = false, pending = queue ~= nil, held = false, behaviour = behaviour}, Task)
	Scheduler.list = t
	Scheduler.tasks [id] = t
	return t
end

function Task:isHeldOrSuspended ()
	return self.held or (self.waiting and not self.pending)
end

function Task:run ()
	local packet
	if self.waiting and self.pending then
		packet = self.input
		self.input = packet.link
		self.pending = self.input ~= nil
		self.waiting = false
	end
	return self.behaviour (packet)
end

function Task:accept (packet, from)
	if self.input == nil then
		self.input = packet
		self.pending = true
		if self.priority > from.priority then
			return self
		end
	else
		self.input = packet:appendTo (self.input)
	end
	return from
end

function Scheduler.wait ()
	Scheduler.current.waiting = true
	return Scheduler.current
end

function Scheduler.hold ()
	Scheduler.held = Scheduler.held + 1
	Scheduler.current.held = true
	return Scheduler.current.link
end

function Scheduler.release (id)
	local t = Scheduler.tasks [id]
	t.held = false
	if t.priority > Scheduler.current.priority then
		return t
	end
	return Scheduler.current
end

function Scheduler.queue (packet)
	local t = Scheduler.tasks [packet.id]
	Scheduler.queued = Scheduler.queued + 1
	packet.link = nil
	packet.id = Scheduler.current.id
	return t:accept (packet, Scheduler.current)
end

function Scheduler.schedule ()
	local t = Scheduler.list
	while t do
		if t:isHeldOrSuspended () then
			t = t.link
		else
			Scheduler.current = t
			t = t:run ()
		end
	end
end

local function idle (rounds)
	local seed, left = 1, rounds
	return function ()
		left = left - 1
		if left == 0 then
			return Scheduler.hold ()
		end
		local half = math.floor (seed / 2)
		if seed % 2 == 0 then
			seed = half
			return Scheduler.release (DEVICE_A)
		end
		-- half XOR 0xd008, for a half below 65536
		local a, b, x, bit = half, 53256, 0, 1
		while a > 0 or b > 0 do
			if a % 2 ~= b % 2 then
				x = x + bit
			end
			a, b, bit = math.floor (a / 2), math.floor (b / 2), bit * 2
		end
		seed = x
		return Scheduler.release (DEVICE_B)
	end
end

local function worker ()
	local to, n = HANDLER_A, 0
	return function (packet)
		if packet == nil then
			return Scheduler.wait ()
		end
		to = to == HANDLER_A and HANDLER_B or HANDLER_A
		packet.id = to
		packet.datum = 1
		for i = 1, 4 do
			n = n + 1
			if n > 26 then
				n = 1
			end
			packet.data [i] = 64 + n
		end
		return Scheduler.queue (packet)
	end
end

local function handler ()
	local work, device
	return function (packet)
		if packet then
			if packet.kind == KIND_WORK then
				work = packet:appendTo (work)
			else
				device = packet:appendTo (device)
			end
		end
		if work then
			local count = work.datum
			if count > 4 then
				local p = work
				work = work.link
				return Scheduler.queue (p)
			elseif device then
				local p = device
				device = device.link
				p.datum = work.data [count]
				work.datum = count + 1
				return Scheduler.queue (p)
			end
		end
		return Scheduler.wait ()
	end
end

local function device ()
	local pending
	return function (packet)
		if packet == nil then
			if pending == nil then
				return Scheduler.wait ()
			end
			local p = pending
			pending = nil
			return Scheduler.queue (p)
		end
		pending = packet
		return Scheduler.hold ()
	end
end

local function run ()
	Scheduler.tasks, Scheduler.list, Scheduler.held, Scheduler.queued = {}, nil, 0, 0
	newTask (IDLE, 0, nil, idle (3000))
	local q = newPacket (nil, WORKER, KIND_WORK)
	q = newPacket (q, WORKER, KIND_WORK)
	newTask (WORKER, 1000, q, worker ()).waiting = true
	for _, pair in ipairs {{HANDLER_A, DEVICE_A, 2000}, {HANDLER_B, DEVICE_B, 3000}} do
		q = nil
		for _ = 1, 3 do
			q = newPacket (q, pair [2], KIND_DEVICE)
		end
		newTask (pair [1], pair [3], q, handler ()).waiting = true
	end
	newTask (DEVICE_A, 4000, nil, device ()).waiting = true
	newTask (DEVICE_B, 5000, nil, device ()).waiting = true
	Scheduler.schedule ()
	return Scheduler.queued, Scheduler.held
end

local queued, held = 0, 0
for _ = 1, 10 do
	local q, h = run ()
	queued, held = queued + q, held + h
end
return queued .. " " .. held
