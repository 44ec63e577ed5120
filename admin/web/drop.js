// Files by drop or paste for forms that upload one.

import { each, el, onPart, say, size, t } from "./page.js";

onPart(root => each(root, "form[data-drop]", form => {
	const input = form.querySelector("input[type=file]");
	const list = el("ul", { className: "files", "aria-label": t("drop.files") });
	input.after(list);
	const show = () => list.replaceChildren(
		...Array.from(input.files, f => el("li", {}, t("drop.file", { name: f.name, size: size(f.size) }))));
	const take = files => {
		const taken = new DataTransfer();
		[...files].slice(0, input.multiple ? Infinity : 1).forEach(f => taken.items.add(f));
		input.files = taken.files;
		input.dispatchEvent(new Event("change", { bubbles: true }));
	};
	input.addEventListener("change", show);

	const isFiles = event => event.dataTransfer?.types.includes("Files");
	form.addEventListener("dragover", event => {
		if (isFiles(event)) {
			event.preventDefault();
			form.classList.add("over");
		}
	});
	form.addEventListener("dragleave", () => form.classList.remove("over"));
	form.addEventListener("drop", event => {
		form.classList.remove("over");
		if (isFiles(event)) {
			event.preventDefault();
			take(event.dataTransfer.files);
		}
	});
	document.addEventListener("paste", event => {
		if (form.isConnected && event.clipboardData.files.length) {
			event.preventDefault();
			take(event.clipboardData.files);
		}
	});
	form.addEventListener("submit", event => {
		event.preventDefault();
		send(form, event.submitter);
	});
}));

// send uploads with progress, which fetch does not tell.
function send(form, submitter) {
	const data = new FormData(form, submitter); // without the button, if it were disabled
	const request = new XMLHttpRequest();
	const progress = el("progress", { max: 1, value: 0, "aria-label": t("drop.progress") });
	say(form, t("drop.sending")).after(progress);
	if (submitter) {
		submitter.disabled = true;
	}
	request.upload.addEventListener("progress", event => progress.value = event.loaded / event.total);
	request.addEventListener("loadend", () => {
		progress.remove();
		if (submitter) {
			submitter.disabled = false;
		}
		const body = request.response ?? {};
		if (request.status === 0) {
			say(form, t("unreachable"), "bad");
		} else if (body.location) {
			location.assign(body.location);
		} else if (body.saved) {
			body.page ? location.assign(body.page) : location.reload();
		} else {
			say(form, body.error ?? t("unexpected", { status: request.status }), "bad");
		}
	});
	request.open("POST", form.getAttribute("action") ?? location.href);
	request.responseType = "json";
	request.setRequestHeader("Accept", "application/json");
	request.setRequestHeader("X-CSRF-Token", document.body.dataset.csrf ?? "");
	request.send(data);
}
