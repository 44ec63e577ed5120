// The finder: Ctrl-K, a few letters, Enter.

import { askJSON, each, el, onPart, t, url } from "./page.js";

let opener; // the link of the page that leads to the finder

onPart(root => each(root, "[data-palette]", link => {
	opener ??= link;
	link.addEventListener("click", event => {
		if (!event.ctrlKey && !event.metaKey && !event.shiftKey) {
			event.preventDefault();
			open();
		}
	});
}));

document.addEventListener("keydown", event => {
	if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key === "k" && opener) {
		event.preventDefault();
		open();
	}
});

let dialog;

function open() {
	dialog ??= build();
	if (!dialog.open) {
		dialog.showModal(); // which gives the focus back when it is closed
		dialog.querySelector("input").select();
	}
}

function build() {
	const input = el("input", {
		type: "text", autocomplete: "off", spellcheck: false, role: "combobox", "aria-expanded": "true",
		"aria-controls": "palette-list", "aria-label": t("palette.label"), placeholder: t("palette.label"),
	});
	const options = el("ul", { id: "palette-list", role: "listbox", "aria-label": t("palette.results") });
	const status = el("p", { className: "palette-status", role: "status" });
	const made = el("dialog", { className: "palette", "aria-label": t("palette.label") }, input, options, status);
	let asked, timer, chosen = -1;
	let shown; // the text that the options are for
	let pressed; // Enter, while they were for another text

	function choose(i) {
		const all = [...options.children];
		chosen = all.length ? (i + all.length) % all.length : -1;
		all.forEach((o, n) => o.setAttribute("aria-selected", n === chosen));
		all[chosen]?.scrollIntoView({ block: "nearest" });
		if (chosen < 0) {
			input.removeAttribute("aria-activedescendant");
		} else {
			input.setAttribute("aria-activedescendant", all[chosen].id);
		}
	}
	async function find() {
		asked?.abort();
		asked = new AbortController();
		const { signal } = asked, q = input.value;
		try {
			let from = "";
			do { // the server searches for a moment each time
				const { body } = await askJSON(url(opener.dataset.palette, { q, ...from && { from } }), { signal });
				const found = [...(body.commands ?? []).map(command), ...(body.objects ?? []).map(object)];
				from ? options.append(...found) : options.replaceChildren(...found);
				[...options.children].forEach((o, i) => o.id = "palette-" + i);
				choose(from ? Math.max(chosen, 0) : 0);
				shown = q;
				if (pressed && options.children[0]) {
					return go(options.children[0], pressed);
				}
				from = body.next;
				status.textContent = body.error ?? (from ? t("palette.searching", { percent: body.percent ?? 0 })
					: options.children.length ? "" : t("palette.nothing"));
			} while (from && options.children.length < 50 && made.open);
		} catch (err) {
			if (err.name !== "AbortError") {
				throw err;
			}
		}
	}
	const option = (href, ...children) => {
		const o = el("li", { role: "option", "aria-selected": "false" }, ...children);
		o.dataset.href = href;
		return o;
	};
	const command = c => option(c.href, el("span", {}, c.label), el("span", { className: "dim" }, c.detail ?? ""));
	const object = o => option(o.href, el("span", {}, o.address), el("span", { className: "dim" }, o.kind ?? ""),
		...o.match ? [el("span", { className: "match" }, o.match)] : []);
	const go = (o, event) => {
		if (event.ctrlKey || event.metaKey) {
			window.open(o.dataset.href);
		} else {
			made.close();
			location.assign(o.dataset.href);
		}
	};

	input.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(find, 120);
		pressed = undefined;
	});
	input.addEventListener("keydown", event => {
		const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
		if (step) {
			event.preventDefault();
			choose(Math.abs(step) === 1 ? chosen + step : Math.min(Math.max(chosen + step, 0), options.children.length - 1));
		} else if (event.key === "Enter") {
			event.preventDefault();
			if (shown !== input.value) {
				pressed = event;
			} else if (options.children[chosen]) {
				go(options.children[chosen], event);
			}
		}
	});
	options.addEventListener("click", event => {
		const o = event.target.closest("li");
		if (o) {
			go(o, event);
		}
	});
	made.addEventListener("click", event => event.target === made && made.close());
	made.addEventListener("close", () => {
		asked?.abort();
		pressed = undefined;
	});
	document.body.append(made);
	setTimeout(find); // when it is open
	return made;
}
