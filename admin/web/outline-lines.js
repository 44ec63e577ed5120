// An outline as a list of lines. Each line is {level, text, closed}; what is below a line are the
// lines after it with a greater level. Nothing here changes a line or a list: each function returns
// {lines, at} with the place of the line that has the cursor then, or null if there is nothing to do.

// parse returns the lines of a text with a tab for each level.
export function parse(text) {
	return text.replace(/\n$/, "").split("\n").map(line => {
		const level = /^\t*/.exec(line)[0].length;
		return { level, text: line.slice(level), closed: false };
	});
}

// format returns lines as a text, without a line break after the last.
export function format(lines) {
	return lines.map(l => "\t".repeat(l.level) + l.text).join("\n");
}

// end returns the place after the last line below lines[at].
export function end(lines, at) {
	let i = at + 1;
	while (i < lines.length && lines[i].level > lines[at].level) {
		i++;
	}
	return i;
}

// parent returns the place of the line that lines[at] is below, or -1.
export function parent(lines, at) {
	let i = at - 1;
	while (i >= 0 && lines[i].level >= lines[at].level) {
		i--;
	}
	return i;
}

// before returns the place of the line before lines[at] that is below the same line, or -1.
export function before(lines, at) {
	const above = parent(lines, at);
	let i = at - 1;
	while (i > above && lines[i].level > lines[at].level) {
		i--;
	}
	return i > above ? i : -1;
}

// shown returns the places of the lines that no closed line hides.
export function shown(lines) {
	const places = [];
	for (let i = 0; i < lines.length; i = lines[i].closed ? end(lines, i) : i + 1) {
		places.push(i);
	}
	return places;
}

const shifted = (lines, by) => lines.map(l => ({ ...l, level: l.level + by }));

function splice(lines, at, count, ...added) {
	return [...lines.slice(0, at), ...added, ...lines.slice(at + count)];
}

export function setText(lines, at, text) {
	return { lines: splice(lines, at, 1, { ...lines[at], text }), at };
}

export function setClosed(lines, at, closed) {
	if (lines[at].closed === closed || end(lines, at) === at + 1) {
		return null;
	}
	return { lines: splice(lines, at, 1, { ...lines[at], closed }), at };
}

// insert puts an empty line directly below a line. It is the first line below an open line that has some.
export function insert(lines, at) {
	const after = lines[at].closed ? end(lines, at) : at + 1;
	const level = after < end(lines, at) ? lines[at].level + 1 : lines[at].level;
	return { lines: splice(lines, after, 0, { level, text: "", closed: false }), at: after };
}

// paste puts the lines of a text below a line, at its level.
export function paste(lines, at, text) {
	const added = parse(text.replaceAll("\r", "")).filter(l => l.text !== "" || l.level);
	if (!added.length) {
		return null;
	}
	const least = Math.min(...added.map(l => l.level));
	const below = shifted(added, lines[at].level - least);
	if (lines[at].text === "" && end(lines, at) === at + 1) {
		return { lines: splice(lines, at, 1, ...below), at: at + below.length - 1 };
	}
	const after = end(lines, at);
	return { lines: splice(lines, after, 0, ...below), at: after + below.length - 1 };
}

// remove takes a line away with what is below it. The last line is emptied instead.
export function remove(lines, at) {
	const rest = splice(lines, at, end(lines, at) - at);
	if (!rest.length) {
		return { lines: [{ level: 0, text: "", closed: false }], at: 0 };
	}
	const places = shown(rest);
	return { lines: rest, at: places.findLast(i => i < at) ?? 0 };
}

export function duplicate(lines, at) {
	const after = end(lines, at);
	return { lines: splice(lines, after, 0, ...shifted(lines.slice(at, after), 0)), at: after };
}

// demote puts a line, with what is below it, below the line before it.
export function demote(lines, at) {
	const above = before(lines, at);
	if (above < 0) {
		return null;
	}
	const after = end(lines, at);
	const list = splice(lines, at, after - at, ...shifted(lines.slice(at, after), 1));
	return { lines: splice(list, above, 1, { ...lines[above], closed: false }), at };
}

// promote puts a line, with what is below it, behind the line that it was below.
export function promote(lines, at) {
	const above = parent(lines, at);
	if (above < 0) {
		return null;
	}
	const after = end(lines, at), behind = end(lines, above);
	const moved = shifted(lines.slice(at, after), lines[above].level - lines[at].level);
	const to = behind - moved.length;
	return { lines: splice(splice(lines, at, moved.length), to, 0, ...moved), at: to };
}

// moveUp and moveDown exchange a line with its neighbour, both with what is below them.
export function moveUp(lines, at) {
	const to = before(lines, at);
	if (to < 0) {
		return null;
	}
	const after = end(lines, at);
	return { lines: splice(lines, to, after - to, ...lines.slice(at, after), ...lines.slice(to, at)), at: to };
}

export function moveDown(lines, at) {
	const next = end(lines, at);
	if (next === lines.length || lines[next].level < lines[at].level) {
		return null;
	}
	return { lines: moveUp(lines, next).lines, at: at + end(lines, next) - next };
}
