import assert from "node:assert/strict";
import { test } from "node:test";
import { addressAt, addressBefore, offsetOf } from "../address.js";

test("addressBefore", () => {
	for (const [line, want] of [["x = string.fo", "string.fo"], ["user.", "user."], ["a:b", "a:b"], ["f (", ""], ["1x", ""], ["", ""]]) {
		assert.equal(addressBefore(line), want, line);
	}
});

test("addressAt", () => {
	const line = "return user.webserver.prefs (x)";
	assert.deepEqual(addressAt(line, 8), { name: "user", from: 7, to: 11 });
	assert.deepEqual(addressAt(line, 14), { name: "user.webserver", from: 7, to: 21 });
	assert.deepEqual(addressAt(line, 27), { name: "user.webserver.prefs", from: 7, to: 27 });
	assert.equal(addressAt(line, 28), null);
	assert.equal(addressAt("s:upper ()", 3).name, "s.upper");
});

test("offsetOf", () => {
	assert.equal(offsetOf("abc", 3), 2);
	assert.equal(offsetOf("😀x", 2), 2);
	assert.equal(offsetOf("abc", 99), 3);
});
