// Somebody else has changed the text meanwhile: both changes side by side, and what to do.

import { unifiedMergeView } from "@codemirror/merge";
import { newEditor } from "./editor.js";
import { el, t } from "./page.js";

// showConflict shows a conflict above a form. actions are called for the button that is pressed:
// mine(), theirs() or merged(text).
export function showConflict(form, conflict, message, actions) {
	document.querySelector(".conflict")?.remove();
	const language = form.querySelector("textarea[data-editor]")?.dataset.editor ?? "text";
	const base = conflict.base ?? conflict.theirs ?? "";
	const change = (text, label) => {
		const { host } = newEditor({
			text: text ?? "", language, label, readOnly: true,
			extensions: [unifiedMergeView({ original: base, mergeControls: false, collapseUnchanged: { margin: 2 } })],
		});
		return el("section", { "aria-label": label }, el("h3", {}, label), host);
	};
	const merged = newEditor({ text: conflict.merged ?? conflict.mine, language, label: t("conflict.merged") });
	const act = (label, fn) => el("button", {
		type: "button", className: "button",
		onclick: () => {
			box.remove();
			fn();
		},
	}, label);
	const heading = el("h2", { tabIndex: -1, id: "conflict-title" }, t("conflict.title"));
	const box = el("section", { className: "conflict card", "aria-labelledby": "conflict-title" },
		heading,
		el("p", {}, message ?? t("conflict.text"), " ",
			...conflict.href ? [el("a", { href: conflict.href }, t("conflict.change"))] : []),
		el("div", { className: "conflict-both" },
			change(conflict.theirs, t("conflict.theirs", { who: conflict.who ?? "", when: conflict.when ?? "" })),
			change(conflict.mine, t("conflict.mine"))),
		el("h3", {}, t("conflict.merged")), merged.host,
		el("div", { className: "actions" },
			act(t("conflict.saveMerged"), () => actions.merged(merged.view.state.doc.toString())),
			act(t("conflict.takeMine"), actions.mine),
			act(t("conflict.takeTheirs"), actions.theirs)));
	form.before(box);
	heading.focus();
}
