// Parts of a page that stay up to date while they are looked at.

import { ask, attach, each, el, onPart, parsePart, t } from "./page.js";

// Between two requests of a page are at least so many milliseconds, whatever it shows.
const pause = 10_000;

const regions = [];
let last = Date.now(); // when something was last asked
let timer;

onPart(root => each(root, "[data-live]", element => {
	const region = { element, every: Math.max(pause, Number(element.dataset.every || 15) * 1000), asked: Date.now() };
	region.status = el("span", { className: "sr", role: "status" });
	region.button = el("button", { type: "button", className: "button small", "aria-pressed": "false" }, t("live.pause"));
	region.button.addEventListener("click", () => {
		region.paused = !region.paused;
		region.button.setAttribute("aria-pressed", region.paused);
		schedule();
	});
	element.before(el("div", { className: "live-bar" }, region.button, region.status));
	regions.push(region);
	schedule();
}));

document.addEventListener("visibilitychange", schedule);

// schedule waits until the next region is due. A hidden page asks nothing.
function schedule() {
	clearTimeout(timer);
	const waiting = regions.filter(r => r.element.isConnected && !r.paused);
	if (document.hidden || !waiting.length) {
		return;
	}
	const next = waiting.reduce((a, b) => a.asked + a.every <= b.asked + b.every ? a : b);
	const at = Math.max(next.asked + next.every, last + pause);
	timer = setTimeout(() => refresh(next).finally(schedule), Math.max(0, at - Date.now()));
}

async function refresh(region) {
	last = region.asked = Date.now();
	try {
		const response = await ask(region.element.dataset.live, {
			accept: "text/html", cache: "no-store", headers: region.tag ? { "If-None-Match": region.tag } : {},
		});
		if (response.ok) {
			region.tag = response.headers.get("ETag");
			show(region, parsePart(await response.text()));
		}
		region.failed = !response.ok && response.status !== 304;
	} catch {
		region.failed = true;
	}
	region.element.toggleAttribute("data-stale", region.failed);
}

// show replaces what a region contains. Rows with data-key that have not changed stay as they are,
// with the focus in them, and new ones are counted aloud.
function show(region, part) {
	const old = new Map(Array.from(region.element.querySelectorAll("[data-key]"), row => [row.dataset.key, row]));
	const focused = document.activeElement;
	const key = region.element.contains(focused) ? focused.closest("[data-key]")?.dataset.key : undefined;
	const nth = key === undefined ? -1 : [...old.get(key).querySelectorAll("a, button")].indexOf(focused);
	let fresh = 0;
	each(part, "[data-key]", row => {
		const known = old.get(row.dataset.key);
		fresh += known ? 0 : 1;
		if (known?.isEqualNode(row)) {
			row.replaceWith(known);
		}
	});
	region.element.replaceChildren(part);
	each(region.element, "[data-key]", row => old.get(row.dataset.key) !== row && attach(row));
	if (nth >= 0) {
		region.element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.querySelectorAll("a, button")[nth]?.focus();
	}
	if (fresh) {
		region.status.textContent = t("live.new", { count: fresh });
	}
}
