// What is pasted into a table: JSON, or rows with tabs or commas.

// parsePasted returns the format of a text, "json", "tsv" or "csv", and its rows as lists of texts,
// or null if it is a single value.
export function parsePasted(text) {
	const trimmed = text.trim();
	if (/^[[{]/.test(trimmed)) {
		try {
			return { format: "json", rows: jsonRows(JSON.parse(trimmed)) };
		} catch {
			// it is no JSON, such as [a],b
		}
	}
	const format = text.includes("\t") ? "tsv" : "csv";
	const rows = splitRows(text, format === "tsv" ? "\t" : ",");
	return rows.length > 1 || rows[0]?.length > 1 ? { format, rows } : null;
}

// splitRows splits a text as RFC 4180 says: a field in quotes may have separators, line breaks
// and doubled quotes.
export function splitRows(text, separator) {
	const rows = [];
	let row = [], field = "", quoted = false, begun = false;
	const endRow = () => {
		row.push(field);
		rows.push(row);
		row = [];
		field = "";
		begun = false;
	};
	for (let i = 0; i < text.length; i++) {
		const c = text[i];
		if (quoted) {
			if (c !== "\"") {
				field += c;
			} else if (text[i + 1] === "\"") {
				field += c;
				i++;
			} else {
				quoted = false;
			}
		} else if (c === "\"" && field === "") {
			quoted = begun = true;
		} else if (c === separator) {
			row.push(field);
			field = "";
			begun = true;
		} else if (c === "\n" || c === "\r") {
			if (c === "\r" && text[i + 1] === "\n") {
				i++;
			}
			endRow();
		} else {
			field += c;
			begun = true;
		}
	}
	if (begun) {
		endRow();
	}
	return rows;
}

// jsonRows returns the values of JSON as rows: of a list of objects or lists, one for each; of an
// object, its names and values.
function jsonRows(value) {
	const show = v => typeof v === "string" ? v : JSON.stringify(v);
	if (!Array.isArray(value)) {
		return Object.entries(value).map(([name, v]) => [name, show(v)]);
	}
	if (value.length && value.every(v => v && typeof v === "object" && !Array.isArray(v))) {
		const names = [...new Set(value.flatMap(Object.keys))];
		return [names, ...value.map(v => names.map(n => n in v ? show(v[n]) : ""))];
	}
	return value.map(v => Array.isArray(v) ? v.map(show) : [show(v)]);
}
