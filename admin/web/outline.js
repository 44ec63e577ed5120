// The outliner over a textarea, with the keys of 1998. See outline-lines.js for what they do.

import * as outline from "./outline-lines.js";
import { each, el, instead, labelOf, onPart, t } from "./page.js";

// A longer outline stays a text.
const most = 5000;

onPart(root => each(root, "textarea[data-outline]", area => {
	if (outline.parse(area.value).length <= most) {
		mount(area);
	}
}));

function mount(area) {
	const readOnly = area.readOnly || area.disabled;
	const tree = el("div", { className: "outline", role: "tree", "aria-label": labelOf(area, t("outline.label")) });
	let lines, at; // the outline, and the line with the cursor
	let places; // of the lines that are shown, one for each element of the tree
	let past, future; // for undo and redo
	let typed; // the line that has been typed in since the last entry of past
	let leaving; // Esc: the next Tab leaves the outline

	function start() {
		lines = outline.parse(area.value);
		at = 0;
		past = [];
		future = [];
		typed = -1;
		draw();
	}

	function newRow() {
		const row = el("div", { role: "treeitem" });
		if (!readOnly) {
			try {
				row.contentEditable = "plaintext-only";
			} catch {
				row.contentEditable = "true";
			}
		}
		return row;
	}

	function draw() {
		places = outline.shown(lines);
		while (tree.children.length < places.length) {
			tree.append(newRow());
		}
		while (tree.children.length > places.length) {
			tree.lastChild.remove();
		}
		places.forEach((i, n) => {
			const row = tree.children[n], line = lines[i];
			if (row.textContent !== line.text) {
				row.textContent = line.text;
			}
			row.setAttribute("aria-level", line.level + 1);
			row.style.setProperty("--level", line.level);
			set(row, "aria-expanded", outline.end(lines, i) > i + 1 && String(!line.closed));
			set(row, "aria-label", line.text === "" && t("outline.empty"));
			set(row, "aria-selected", i === at && "true");
			row.tabIndex = i === at ? 0 : -1;
		});
	}

	function set(row, name, value) {
		value ? row.setAttribute(name, value) : row.removeAttribute(name);
	}

	// keep writes the outline to the textarea.
	function keep() {
		area.value = outline.format(lines) + (area.value.endsWith("\n") ? "\n" : "");
		area.dispatchEvent(new Event("input", { bubbles: true }));
	}

	// change takes over what a function of outline-lines.js returned, so that it can be undone.
	function change(result, offset = caret()) {
		if (!result) {
			return;
		}
		past.push({ lines, at });
		future = [];
		typed = -1;
		({ lines, at } = result);
		draw();
		keep();
		focus(at, offset);
	}

	function back(from, to) {
		const state = from.pop();
		if (state) {
			to.push({ lines, at });
			({ lines, at } = state);
			typed = -1;
			draw();
			keep();
			focus(at, Infinity);
		}
	}

	// fold opens or closes a line. That changes no text, and is not undone.
	function fold(i, closed) {
		const result = outline.setClosed(lines, i, closed);
		if (result) {
			({ lines } = result);
			if (closed && at > i && at < outline.end(lines, i)) {
				at = i;
			}
			draw();
			focus(at, caret());
		}
	}

	// --- the cursor ---

	const rowOf = i => tree.children[places.indexOf(i)];

	function caret() {
		const selection = getSelection();
		const node = selection.focusNode;
		return node?.nodeType === Node.TEXT_NODE && rowOf(at)?.contains(node) ? selection.focusOffset : 0;
	}

	function focus(i, offset) {
		const row = rowOf(i);
		if (!row) {
			return;
		}
		row.focus();
		const text = row.firstChild;
		if (text && !readOnly) {
			getSelection().collapse(text, Math.min(offset, text.length));
		}
	}

	// step goes n rows up or down, unless the cursor stays in a row of more than one line.
	function step(n) {
		const selection = getSelection();
		const row = rowOf(at);
		const place = !readOnly && selection.rangeCount ? selection.getRangeAt(0).getClientRects()[0] : null;
		if (place) {
			const box = row.getBoundingClientRect();
			if (n < 0 ? place.top - place.height > box.top : place.bottom + place.height < box.bottom) {
				return false;
			}
		}
		const to = places[places.indexOf(at) + n];
		if (to !== undefined) {
			focus(to, caret());
		}
		return true;
	}

	tree.addEventListener("focusin", event => {
		const i = places[[...tree.children].indexOf(event.target)];
		if (i !== undefined && i !== at) {
			at = i;
			draw();
		}
	});

	// --- mouse, text, keys ---

	tree.addEventListener("mousedown", event => {
		const i = places[[...tree.children].indexOf(event.target)];
		if (i !== undefined && event.offsetX < parseFloat(getComputedStyle(event.target).paddingInlineStart)) {
			event.preventDefault();
			fold(i, !lines[i].closed);
		}
	});

	tree.addEventListener("beforeinput", event => {
		if (/^(format|insertFromDrop|insertParagraph|insertLineBreak|history)/.test(event.inputType)) {
			event.preventDefault();
		}
	});

	tree.addEventListener("input", () => {
		if (typed !== at) {
			past.push({ lines, at });
			future = [];
			typed = at;
		}
		const row = rowOf(at);
		({ lines } = outline.setText(lines, at, row.textContent.replace(/\s*\n\s*/g, " ")));
		set(row, "aria-label", lines[at].text === "" && t("outline.empty"));
		keep();
	});

	tree.addEventListener("paste", event => {
		const text = event.clipboardData.getData("text/plain");
		if (!readOnly && text.trim().includes("\n")) {
			event.preventDefault();
			change(outline.paste(lines, at, text), Infinity);
		}
	});

	tree.addEventListener("copy", event => {
		if (getSelection().isCollapsed) { // the whole line, with what is below it
			event.preventDefault();
			const base = lines[at].level;
			event.clipboardData.setData("text/plain",
				outline.format(lines.slice(at, outline.end(lines, at)).map(l => ({ ...l, level: l.level - base }))));
		}
	});

	const changes = {
		"Enter": () => change(outline.insert(lines, at), 0),
		"Tab": () => change(outline.demote(lines, at)),
		"Shift-Tab": () => change(outline.promote(lines, at)),
		"Ctrl-ArrowUp": () => change(outline.moveUp(lines, at)),
		"Ctrl-ArrowDown": () => change(outline.moveDown(lines, at)),
		"Ctrl-d": () => change(outline.duplicate(lines, at)),
		"Ctrl-Shift-k": () => change(outline.remove(lines, at), Infinity),
		"Ctrl-z": () => back(past, future),
		"Ctrl-Shift-z": () => back(future, past),
		"Ctrl-y": () => back(future, past),
	};
	const moves = {
		"ArrowUp": () => step(-1),
		"ArrowDown": () => step(1),
		"Ctrl-ArrowLeft": () => fold(at, true),
		"Ctrl-ArrowRight": () => fold(at, false),
		"Ctrl-Home": () => focus(places[0], 0),
		"Ctrl-End": () => focus(places.at(-1), Infinity),
		"NumpadAdd": () => fold(at, false),
		"NumpadSubtract": () => fold(at, true),
	};

	tree.addEventListener("keydown", event => {
		if (event.isComposing || event.altKey) {
			return;
		}
		if (event.key === "Escape") {
			leaving = true;
			return;
		}
		const was = leaving;
		leaving = event.key === "Shift" && leaving;
		const key = (event.ctrlKey || event.metaKey ? "Ctrl-" : "") + (event.shiftKey ? "Shift-" : "") +
			(event.key.length === 1 ? event.key.toLowerCase() : event.key);
		if (was && event.key === "Tab") {
			return;
		}
		let action = moves[event.code.startsWith("Numpad") && !event.key.startsWith("Arrow") ? event.code : key];
		if (!action && !readOnly) {
			const alone = lines[at].text === "" && outline.end(lines, at) === at + 1;
			action = alone && /^(Backspace|Delete)$/.test(key) ? () => change(outline.remove(lines, at), Infinity) : changes[key];
		}
		if (action && action() !== false) {
			event.preventDefault();
		}
	});

	area.addEventListener("change", () => {
		if (area.value.replace(/\n$/, "") !== outline.format(lines)) {
			start();
		}
	});
	area.form?.addEventListener("reset", () => setTimeout(start));
	tree.addEventListener("labelled", () => focus(at, 0));
	start();
	area.closest("label")?.querySelector("small")?.remove(); // it is about the text
	instead(area, tree, el("p", { className: "editor-hint" }, readOnly ? t("outline.hintReadOnly") : t("outline.hint")));
}
