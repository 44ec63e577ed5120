// Forms that are sent without leaving the page: save, run, preview; and the keys for them.

import { showConflict } from "./conflict.js";
import { ask, askJSON, attach, each, el, onPart, parsePart, renewToken, say, size, t } from "./page.js";

const saved = new Map(); // form → what it contained when it was last saved
const busy = new Set(); // forms that are being sent
const again = new Map(); // form → button: pressed meanwhile, so that what was typed since is saved too

onPart(root => each(root, "form[data-save], form[data-guard]", form => {
	saved.set(form, form.hasAttribute("data-unsaved") ? null : contents(form));
	form.addEventListener("input", () => form.setAttribute("data-unsaved", ""));
	form.addEventListener("submit", event => {
		if (event.submitter?.hasAttribute("data-into")) {
			return;
		}
		if (!form.matches("[data-save]") || event.submitter?.hasAttribute("data-plain")) {
			if (event.submitter?.getAttribute("formtarget") !== "_blank") {
				saved.delete(form); // it leaves the page, and means to
			}
			return;
		}
		event.preventDefault();
		save(form, event.submitter);
	});
}));

// contents returns what a form would send, to be compared.
function contents(form) {
	const fields = [...new FormData(form)].filter(([name]) => name !== "csrf" && name !== "version");
	return JSON.stringify(fields.map(([name, value]) => [name, value.name ?? value]));
}

addEventListener("beforeunload", event => {
	for (const [form, content] of saved) {
		if (form.isConnected && contents(form) !== content) {
			event.preventDefault();
		}
	}
});

// target returns where a form goes. Its property action may be a field with that name.
function target(form, submitter) {
	return submitter?.getAttribute("formaction") ?? form.getAttribute("action") ?? location.href;
}

// encoded returns fields as a browser sends them, with files where the form has some.
function encoded(form, data) {
	return form.getAttribute("enctype") === "multipart/form-data" ? data : new URLSearchParams(data);
}

async function save(form, submitter, text) {
	if (busy.has(form)) {
		again.set(form, submitter);
		return;
	}
	busy.add(form);
	say(form, t("save.saving"));
	const field = form.querySelector("textarea[data-editor], textarea[data-outline]");
	if (text !== undefined) {
		field.value = text;
		field.dispatchEvent(new Event("change"));
	}
	const content = contents(form);
	const data = new FormData(form, submitter);
	const send = () => askJSON(target(form, submitter), { method: "POST", body: encoded(form, data) });
	let { status, body } = await send();
	if (status === 403 && await renewToken().catch(() => false)) {
		data.set("csrf", document.body.dataset.csrf);
		({ status, body } = await send());
	}
	busy.delete(form);
	const next = again.get(form);
	again.delete(form);
	if (body.conflict && (!field || body.conflict.deleted)) {
		submitPlainly(form, submitter); // the page of the server shows it
	} else if (body.conflict) {
		say(form, body.error ?? t("save.conflict"), "bad");
		showConflict(form, { mine: field.value, ...body.conflict }, body.error, {
			mine: () => setVersion(form, body.conflict.version) || save(form, submitter),
			theirs: () => {
				setVersion(form, body.conflict.version);
				field.value = body.conflict.theirs ?? "";
				field.dispatchEvent(new Event("change"));
				done(form, contents(form), t("save.theirsTaken"));
			},
			merged: merged => setVersion(form, body.conflict.version) || save(form, submitter, merged),
		});
	} else if (status >= 200 && status < 300 && (body.saved || body.location)) {
		setVersion(form, body.version);
		showFacts(body);
		done(form, content, body.message ?? t("save.saved"));
		const to = body.saved ? form.dataset.save === "page" && body.page : body.location;
		if (to) {
			saved.delete(form);
			location.assign(to);
			return;
		}
	} else {
		say(form, body.error ?? t("unexpected", { status }), "bad");
	}
	if (next && !body.conflict && contents(form) !== content) {
		save(form, next);
	}
}

// submitPlainly sends a form as without this script.
function submitPlainly(form, submitter) {
	saved.delete(form);
	form.append(el("input", { type: "hidden", name: submitter?.name ?? "", value: submitter?.value ?? "" }));
	HTMLFormElement.prototype.submit.call(form);
}

// setVersion sets the version that the person has read: in the form, and in the others of the same object.
function setVersion(form, version) {
	const read = form.querySelector("input[name=version]")?.value;
	if (read !== undefined && version !== undefined) {
		document.querySelectorAll(`main input[name=version][value="${CSS.escape(read)}"]`).forEach(f => f.value = version);
	}
}

// showFacts shows the size, the time and the change of what was saved.
function showFacts({ size: bytes, modified, version }) {
	each(document, "[data-fact]", e => {
		if (e.dataset.fact === "size" && bytes !== undefined) {
			e.textContent = size(bytes);
		} else if (e.dataset.fact === "modified" && modified) {
			e.dateTime = modified;
			e.textContent = modified.slice(0, 19).replace("T", " ");
		} else if (e.dataset.fact === "version" && version) {
			e.href = e.href.replace(/\d+$/, version);
			e.textContent = e.textContent.replace(/\d+/, version);
		}
	});
}

function done(form, content, message) {
	saved.set(form, content);
	form.toggleAttribute("data-unsaved", contents(form) !== content);
	say(form, message, "good");
}

// A button with data-into shows what the server answers in an element of the page.
document.addEventListener("submit", async event => {
	const { target: form, submitter } = event;
	const place = submitter?.dataset.into && document.querySelector(submitter.dataset.into);
	if (!place) {
		return;
	}
	event.preventDefault();
	if (busy.has(form)) {
		return;
	}
	busy.add(form);
	place.setAttribute("aria-busy", "true");
	say(form, t("save.running"));
	try {
		const data = new FormData(form, submitter);
		const address = target(form, submitter);
		const response = await ((form.getAttribute("method") ?? "get").toLowerCase() === "get"
			? ask(address + "?" + new URLSearchParams(data), { accept: "text/html", headers: { "X-Part": "1" } })
			: ask(address, { accept: "text/html", headers: { "X-Part": "1" }, method: "POST", body: encoded(form, data) }));
		place.replaceChildren(parsePart(await response.text()));
		attach(place);
		say(form, response.ok ? t("save.ran") : t("unexpected", { status: response.status }), response.ok ? "" : "bad");
		place.scrollIntoView({ block: "nearest" });
	} catch {
		say(form, t("unreachable"), "bad");
	}
	place.removeAttribute("aria-busy");
	busy.delete(form);
});

// Ctrl-S saves the form with the cursor, or the first; Ctrl-Enter runs.
document.addEventListener("keydown", event => {
	const key = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key;
	if (key !== "s" && key !== "Enter") {
		return;
	}
	const inside = event.target.closest?.("form");
	const wanted = key === "s" ? "form[data-save]" : "form:has(button[data-run])";
	const form = inside?.matches(wanted) ? inside : document.querySelector(wanted);
	if (!form) {
		return;
	}
	event.preventDefault();
	const submits = [...form.querySelectorAll("button:not([type=button], [type=reset])")];
	const button = key === "s" ? submits.find(b => !b.dataset.into && !("run" in b.dataset) && !("plain" in b.dataset))
		: form.querySelector("button[data-run]");
	if (button && !button.disabled) {
		form.requestSubmit(button);
	}
});
