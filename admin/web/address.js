// Addresses and columns in lines of Lua.

// addressBefore returns the address that ends a piece of a line, as far as it has been typed:
// "x = string.fo" has "string.fo".
export function addressBefore(line) {
	return /(?<![\w.:])[A-Za-z_][\w.:]*$/.exec(line)?.[0] ?? "";
}

// addressAt returns the address whose last name is at a position of a line, with its place:
// in "user.webserver.prefs" at 6 it is "user.webserver". It returns null if there is no name.
export function addressAt(line, position) {
	for (const match of line.matchAll(/[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*/g)) {
		const end = match.index + match[0].length;
		if (position < match.index || position > end) {
			continue;
		}
		const rest = /^\w*/.exec(line.slice(position))[0].length;
		const to = Math.min(position + rest, end);
		return { name: line.slice(match.index, to).replaceAll(":", "."), from: match.index, to };
	}
	return null;
}

// offsetOf returns the place in a line of a column, which counts characters from 1. JavaScript
// counts some characters as two.
export function offsetOf(line, column) {
	return [...line].slice(0, column - 1).join("").length;
}
