import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePasted, splitRows } from "../pasted.js";

test("splitRows", () => {
	assert.deepEqual(splitRows("a,b\r\nc,d\r\n", ","), [["a", "b"], ["c", "d"]]);
	assert.deepEqual(splitRows("\"a \"\"b\"\", c\",\"d\ne\"\n", ","), [["a \"b\", c", "d\ne"]]);
	assert.deepEqual(splitRows("a,,\n,b", ","), [["a", "", ""], ["", "b"]]);
	assert.deepEqual(splitRows("x\"y,z", ","), [["x\"y", "z"]]);
	assert.deepEqual(splitRows("\"\"", ","), [[""]]);
	assert.deepEqual(splitRows("", ","), []);
});

test("parsePasted", () => {
	assert.equal(parsePasted("one value"), null);
	assert.equal(parsePasted("12.5\n"), null);
	assert.equal(parsePasted(""), null);
	assert.deepEqual(parsePasted("a\tb, c"), { format: "tsv", rows: [["a", "b, c"]] });
	assert.deepEqual(parsePasted("a,b\n1,2"), { format: "csv", rows: [["a", "b"], ["1", "2"]] });
	assert.deepEqual(parsePasted("[{\"a\":1},{\"b\":\"x\"}]"), { format: "json", rows: [["a", "b"], ["1", ""], ["", "x"]] });
	assert.deepEqual(parsePasted("{\"a\":[1,2]}"), { format: "json", rows: [["a", "[1,2]"]] });
	assert.deepEqual(parsePasted("[[1,2],[3]]"), { format: "json", rows: [["1", "2"], ["3"]] });
	assert.equal(parsePasted("[a],b").format, "csv");
});
