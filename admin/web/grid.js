// Tables whose cells are edited in place.

import { askJSON, each, el, onPart, say, t } from "./page.js";

// steps are the rows and columns that a key goes.
const steps = {
	ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -Infinity], End: [0, Infinity],
};

onPart(root => each(root, "table[data-grid]", mount));

// Rows that are pasted anywhere on the page of a table go to its form for pasting.
onPart(root => each(root, "details[data-paste]", details => document.addEventListener("paste", event => {
	const text = event.clipboardData.getData("text/plain");
	const inField = event.target.closest?.("input, textarea, [contenteditable]") || event.target.shadowRoot;
	if (details.isConnected && !inField && /[\t\n]|^\s*[[{]/.test(text.trim())) {
		event.preventDefault();
		details.open = true;
		details.querySelector("textarea[name=text]").value = text;
		details.querySelector("button").focus();
	}
})));

function mount(table) {
	table.setAttribute("role", "grid");
	const rows = () => [...table.tBodies].flatMap(body => [...body.rows]);
	let current; // the cell that Tab comes to

	function enter(cell) {
		if (current) {
			current.tabIndex = -1;
		}
		current = cell;
		cell.tabIndex = 0;
	}

	function move(cell, down, right) {
		const all = rows();
		const row = all[all.indexOf(cell.parentElement) + down];
		const to = row?.cells[Math.min(Math.max(cell.cellIndex + right, 0), row.cells.length - 1)];
		if (to) {
			enter(to);
			to.focus();
		}
	}

	const first = table.querySelector("tbody [data-edit]") ?? rows()[0]?.cells[0];
	if (first) {
		enter(first);
	}
	// Tab comes to one cell; Enter follows the link in one.
	table.querySelectorAll("tbody a, tbody button").forEach(link => link.tabIndex = -1);
	const cellOf = event => event.target.closest("tbody td, tbody th");
	table.addEventListener("focusin", event => cellOf(event) && enter(cellOf(event)));
	table.addEventListener("mousedown", event => {
		const cell = cellOf(event);
		if (cell && event.target === cell) {
			enter(cell);
			cell.focus();
		}
	});
	table.addEventListener("dblclick", event => cellOf(event) && edit(table, cellOf(event), move));
	table.addEventListener("keydown", event => {
		const cell = event.target;
		if (!cell.matches("tbody td, tbody th") || event.ctrlKey || event.metaKey || event.altKey) {
			return;
		}
		const step = steps[event.key];
		if (step) {
			event.preventDefault();
			move(cell, ...step);
		} else if (event.key === "Enter" || event.key === "F2") {
			event.preventDefault();
			cell.hasAttribute("data-edit") ? edit(table, cell, move) : cell.querySelector("a, button")?.click();
		}
	});
}

// edit puts a field into a cell.
function edit(table, cell, move) {
	if (!cell.hasAttribute("data-edit") || cell.querySelector("input")) {
		return;
	}
	const raw = cell.textContent;
	const shown = [...cell.childNodes];
	const name = table.tHead?.rows[0]?.cells[cell.cellIndex]?.textContent.trim() || t("grid.cell");
	const field = el("input", { value: raw, "aria-label": t("grid.edit", { name }) });
	let busy = false, closed = false;
	cell.replaceChildren(field);
	field.focus();
	field.select();

	function close(content, focus) {
		closed = true;
		cell.replaceChildren(...content);
		if (focus) {
			cell.focus();
		}
	}
	// save sends the value; key says that Enter was pressed, and not that the field was left.
	async function save(key) {
		if (busy) {
			return;
		}
		if (field.value === raw) {
			close(shown, key);
			return;
		}
		busy = true;
		const { status, body } = await askJSON(table.dataset.save, {
			method: "POST",
			body: new URLSearchParams({ cell: cell.dataset.edit, value: field.value, version: cell.dataset.version }),
		});
		busy = false;
		if (body.saved) {
			cell.dataset.version = body.version ?? "";
			close([body.value ?? field.value], key);
			say(near(table), body.message ?? t("save.saved"), "good");
			if (key) {
				move(cell, 1, 0);
			}
			return;
		}
		if (body.conflict) {
			cell.dataset.version = body.conflict.version;
			say(near(table), t("grid.conflict", { error: body.error ?? "" }), "bad");
		} else {
			say(near(table), body.error ?? t("unexpected", { status }), "bad");
		}
		field.setAttribute("aria-invalid", "true");
		field.focus();
	}
	field.addEventListener("keydown", event => {
		if (event.key === "Escape") {
			event.preventDefault();
			close(shown, true);
		} else if (event.key === "Enter" && !event.isComposing) {
			event.preventDefault();
			save(true);
		}
		event.stopPropagation();
	});
	// Whoever leaves the field has not said that it is wrong.
	field.addEventListener("blur", () => closed || busy || field.hasAttribute("aria-invalid") || save(false));
}

// near returns the element that the status of a table is shown in: what is around its scrolling box.
const near = table => table.closest(".scroll")?.parentElement ?? table.parentElement;
