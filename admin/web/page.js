// What the modules share: the texts of the page, elements, requests to the server.

let texts;

// t returns the text with a key of the page's <template id="texts">. Fields replace {name}.
export function t(key, fields = {}) {
	if (!texts) {
		texts = allTexts();
	}
	const text = texts[key] ?? key;
	return text.replace(/\{(\w+)\}/g, (all, name) => fields[name] ?? all);
}

// allTexts returns the texts of the page by their keys.
export function allTexts() {
	const spans = document.getElementById("texts")?.content.querySelectorAll("[data-key]") ?? [];
	return Object.fromEntries(Array.from(spans, span => [span.dataset.key, span.textContent]));
}

// el returns a new element with properties and children. Names with "-" are attributes.
export function el(name, properties = {}, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(properties)) {
		if (key.includes("-") || key === "role") {
			e.setAttribute(key, value);
		} else {
			e[key] = value;
		}
	}
	e.append(...children);
	return e;
}

// url returns an address relative to the page, with parameters added.
export function url(address, parameters = {}) {
	const u = new URL(address, location.href);
	for (const [key, value] of Object.entries(parameters)) {
		u.searchParams.set(key, value);
	}
	return u;
}

// ask sends a request. What is sent carries the token of the session.
export function ask(address, { accept = "application/json", headers = {}, ...options } = {}) {
	headers = { Accept: accept, ...headers };
	if (options.method === "POST") {
		headers["X-CSRF-Token"] = document.body.dataset.csrf ?? "";
	}
	return fetch(address, { credentials: "same-origin", ...options, headers });
}

// askJSON returns the status and the JSON of an answer. Where there is none, its error says why.
export async function askJSON(address, options) {
	let response;
	try {
		response = await ask(address, options);
	} catch (err) {
		if (err.name === "AbortError") {
			throw err;
		}
		return { status: 0, body: { error: t("unreachable") } };
	}
	try {
		return { status: response.status, body: await response.json() };
	} catch {
		return { status: response.status, body: { error: t("unexpected", { status: response.status }) } };
	}
}

// renewToken takes over the token of the session in which somebody has logged in again, in another
// window, and reports whether there is a new one.
export async function renewToken() {
	const response = await ask(location.href, { accept: "text/html" });
	const token = new DOMParser().parseFromString(await response.text(), "text/html").body.dataset.csrf;
	if (!token || token === document.body.dataset.csrf) {
		return false;
	}
	document.body.dataset.csrf = token;
	document.querySelectorAll("input[name=csrf]").forEach(field => field.value = token);
	return true;
}

// askPart returns the elements of a fragment of HTML.
export async function askPart(address, options) {
	const response = await ask(address, { accept: "text/html", ...options });
	if (!response.ok) {
		throw new Error(t("unexpected", { status: response.status }));
	}
	return parsePart(await response.text());
}

// parsePart returns the elements of a fragment of HTML; scripts in it do not run.
export function parsePart(html) {
	const template = document.createElement("template");
	template.innerHTML = html;
	return template.content;
}

// parts are the modules: each is called with what has come into the page.
const parts = [];

// onPart names a function that is called for the page, and for each fragment that comes into it.
export function onPart(attach) {
	parts.push(attach);
}

// attach lets the modules find their elements below root.
export function attach(root) {
	for (const part of parts) {
		part(root);
	}
}

// each calls fn once for every element below root, or root itself, that matches.
export function each(root, selector, fn) {
	const list = [...root.querySelectorAll(selector)];
	if (root.matches?.(selector)) {
		list.unshift(root);
	}
	list.forEach(fn);
}

// labelOf returns the name of a field by its label, or a text.
export function labelOf(field, otherwise) {
	const label = field.labels[0]?.cloneNode(true);
	label?.querySelectorAll("textarea, small").forEach(e => e.remove());
	return label?.textContent.trim() || field.getAttribute("aria-label") || otherwise;
}

// size returns a number of bytes for people, as the server does.
export function size(bytes) {
	const units = ["B", "kB", "MB"];
	const n = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
	return (bytes / 1000 ** n).toFixed(n ? 1 : 0) + " " + units[n];
}

// instead shows elements in place of a field, outside its label: clicks on a label go to the field.
export function instead(field, ...elements) {
	for (const label of field.labels) {
		label.addEventListener("click", event => {
			if (event.target.closest("a, button, input") === null) {
				elements[0].dispatchEvent(new Event("labelled"));
			}
		});
	}
	field.hidden = true;
	(field.closest("label") ?? field).after(...elements);
}

// say shows a message in the line of status of a form, or of what is around a field without one: its
// own [data-status], or a new one. Screen readers tell it; level is "good", "bad" or nothing.
export function say(near, message, level = "") {
	const place = near.closest("form") ?? (near.matches("textarea") ? near.closest("main") : near);
	let line = place.querySelector("[data-status]");
	if (!line) {
		line = el("p", { className: "status", role: "status", "data-status": "" });
		place.append(line);
	}
	line.className = ("status " + level).trim();
	line.textContent = message;
	return line;
}
