import assert from "node:assert/strict";
import { test } from "node:test";
import * as outline from "../outline-lines.js";

const text = "a\n\tb\n\t\tc\n\td\ne";

// after returns the text after a change of the line with a text, and the text of the line with the cursor.
function after(change, name, ...rest) {
	const lines = outline.parse(text);
	const result = change(lines, lines.findIndex(l => l.text === name), ...rest);
	assert.equal(outline.format(lines), text, "the old lines stay");
	return result && [outline.format(result.lines), result.lines[result.at].text];
}

test("parse and format", () => {
	assert.equal(outline.format(outline.parse(text)), text);
	assert.equal(outline.format(outline.parse("\t\tdeep\nx")), "\t\tdeep\nx");
	assert.deepEqual(outline.parse(""), [{ level: 0, text: "", closed: false }]);
});

test("demote", () => {
	assert.deepEqual(after(outline.demote, "d"), ["a\n\tb\n\t\tc\n\t\td\ne", "d"]);
	assert.deepEqual(after(outline.demote, "e"), ["a\n\tb\n\t\tc\n\td\n\te", "e"]);
	assert.equal(after(outline.demote, "b"), null);
	assert.equal(after(outline.demote, "a"), null);
});

test("promote", () => {
	assert.deepEqual(after(outline.promote, "b"), ["a\n\td\nb\n\tc\ne", "b"]);
	assert.deepEqual(after(outline.promote, "c"), ["a\n\tb\n\tc\n\td\ne", "c"]);
	assert.equal(after(outline.promote, "a"), null);
});

test("move", () => {
	assert.deepEqual(after(outline.moveUp, "e"), ["e\na\n\tb\n\t\tc\n\td", "e"]);
	assert.deepEqual(after(outline.moveUp, "d"), ["a\n\td\n\tb\n\t\tc\ne", "d"]);
	assert.equal(after(outline.moveUp, "c"), null);
	assert.deepEqual(after(outline.moveDown, "a"), ["e\na\n\tb\n\t\tc\n\td", "a"]);
	assert.deepEqual(after(outline.moveDown, "b"), ["a\n\td\n\tb\n\t\tc\ne", "b"]);
	assert.equal(after(outline.moveDown, "d"), null);
	assert.equal(after(outline.moveDown, "e"), null);
});

test("insert", () => {
	assert.deepEqual(after(outline.insert, "a"), ["a\n\t\n\tb\n\t\tc\n\td\ne", ""]);
	assert.deepEqual(after(outline.insert, "d"), ["a\n\tb\n\t\tc\n\td\n\t\ne", ""]);
	const closed = outline.setClosed(outline.parse(text), 0, true).lines;
	assert.equal(outline.format(outline.insert(closed, 0).lines), "a\n\tb\n\t\tc\n\td\n\ne");
});

test("remove", () => {
	assert.deepEqual(after(outline.remove, "b"), ["a\n\td\ne", "a"]);
	assert.deepEqual(after(outline.remove, "a"), ["e", "e"]);
	assert.equal(outline.format(outline.remove(outline.parse("x"), 0).lines), "");
});

test("duplicate", () => {
	assert.deepEqual(after(outline.duplicate, "b"), ["a\n\tb\n\t\tc\n\tb\n\t\tc\n\td\ne", "b"]);
});

test("paste", () => {
	assert.deepEqual(after(outline.paste, "d", "\tx\r\n\t\ty\n"), ["a\n\tb\n\t\tc\n\td\n\tx\n\t\ty\ne", "y"]);
	assert.equal(outline.format(outline.paste(outline.parse("a\n"), 0, "x\ny").lines), "a\nx\ny");
	assert.equal(outline.format(outline.paste(outline.parse(""), 0, "x\n\ty").lines), "x\n\ty");
	assert.equal(after(outline.paste, "d", "\n\n"), null);
});

test("closed lines hide what is below them", () => {
	const closed = outline.setClosed(outline.parse(text), 1, true).lines;
	assert.deepEqual(outline.shown(closed), [0, 1, 3, 4]);
	assert.equal(outline.setClosed(closed, 4, true), null, "nothing is below it");
	assert.deepEqual(outline.shown(outline.demote(closed, 3).lines), [0, 1, 2, 3, 4], "what goes below a line opens it");
});

test("any changes keep all lines", () => {
	const changes = [outline.demote, outline.promote, outline.moveUp, outline.moveDown];
	let lines = outline.parse(text + "\n" + text), seed = 1;
	for (let i = 0; i < 5000; i++) {
		seed = seed * 48271 % 2147483647;
		lines = changes[seed % 4](lines, (seed >> 8) % lines.length)?.lines ?? lines;
		assert.deepEqual(lines.map(l => l.text).sort().join(""), "aabbccddee");
		lines.forEach((l, n) => assert.ok(l.level <= (n ? lines[n - 1].level + 1 : 0), outline.format(lines)));
	}
});
