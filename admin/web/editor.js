// The editor of scripts, texts and pages: CodeMirror over a textarea.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { html } from "@codemirror/lang-html";
import { bracketMatching, indentOnInput, indentUnit, StreamLanguage } from "@codemirror/language";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { forceLinting, lintGutter, linter, lintKeymap, openLintPanel } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorSelection, EditorState, StateEffect, StateField } from "@codemirror/state";
import {
	Decoration, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap,
	lineNumbers,
} from "@codemirror/view";
import { addressAt, addressBefore, offsetOf } from "./address.js";
import { allTexts, askJSON, each, el, instead, labelOf, onPart, say, t, url } from "./page.js";
import { look } from "./look.js";
import { markers } from "./markers.js";
import { recall } from "./recall.js";

const languages = { lua: () => StreamLanguage.define(lua), html: () => [html(), markers()], text: () => [] };

onPart(root => each(root, "textarea[data-editor]", mount));

// newEditor returns an editor in a new element host. The shadow root is there for the style sheets:
// CodeMirror adopts them in one, and makes <style> elements, which the policy forbids, without.
export function newEditor({ text, language, label, readOnly, extensions = [] }) {
	const host = el("div", { className: "editor" });
	const root = host.attachShadow({ mode: "open" });
	const view = new EditorView({
		root, parent: root,
		state: EditorState.create({
			doc: text,
			extensions: [
				extensions,
				lineNumbers(), history(), drawSelection(), bracketMatching(), indentOnInput(), search({ top: true }),
				highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(),
				EditorState.tabSize.of(4), indentUnit.of("\t"), EditorState.readOnly.of(!!readOnly), phrases(),
				EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
				language === "lua" ? closeBrackets() : EditorView.lineWrapping,
				(languages[language] ?? languages.text)(),
				// Ctrl-Enter runs the script; see save.js.
				keymap.of([...closeBracketsKeymap, ...defaultKeymap.filter(k => k.key !== "Mod-Enter"), ...searchKeymap,
					...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
				look(),
			],
		}),
	});
	return { host, view };
}

// phrases are the texts of CodeMirror's own panels: those of the page that begin with "cm.".
function phrases() {
	const own = Object.entries(allTexts()).filter(([key]) => key.startsWith("cm."));
	return EditorState.phrases.of(Object.fromEntries(own.map(([key, text]) => [key.slice(3), text])));
}

function mount(area) {
	const label = labelOf(area, t("editor.label"));
	const extensions = [EditorView.updateListener.of(update => update.docChanged && changed(update.state)), marked];
	const { lint, complete, hover, go, recall: earlier } = area.dataset;
	if (lint) {
		extensions.push(linter(view => findings(view, lint), { delay: 300 }), lintGutter());
	}
	extensions.push(complete ? autocompletion({ override: [context => completions(context, complete)] }) : []);
	if (hover || go) {
		extensions.push(help(area, hover, go ?? hover));
	}
	if (earlier) {
		extensions.push(recall(area, earlier));
	}
	const { host, view } = newEditor({
		text: area.value, language: area.dataset.editor, label, readOnly: area.readOnly || area.disabled, extensions,
	});

	let own = false; // the editor itself changes the textarea
	function changed(state) {
		own = true;
		area.value = state.doc.toString();
		area.dispatchEvent(new Event("input", { bubbles: true }));
		own = false;
	}
	// Others change the textarea: "take theirs" of a conflict.
	area.addEventListener("change", () => {
		if (!own && area.value !== view.state.doc.toString()) {
			view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: area.value } });
		}
	});
	area.form?.addEventListener("reset", () => setTimeout(() => area.dispatchEvent(new Event("change"))));
	host.addEventListener("labelled", () => view.focus());
	const keys = [!view.state.readOnly && t("editor.keys"), area.form?.matches("[data-save]") && t("editor.save"),
		t("editor.find"), hover && t("editor.help"), earlier && t("recall.hint")];
	const hint = el("p", { className: "editor-hint" }, keys.filter(Boolean).join(" "));
	if (lint) {
		const list = { type: "button", className: "link", onclick: () => openLintPanel(view) };
		hint.append(" ", el("button", list, t("editor.findings")));
	}
	const focused = document.activeElement === area || area.autofocus;
	instead(area, host, hint);
	if (focused) {
		view.focus();
	}
	showLine(view, host);
	addEventListener("hashchange", () => showLine(view, host));
	if (lint) {
		forceLinting(view);
	}
}

// --- the line of the URL's fragment ------------------------------------------------------------

const mark = StateEffect.define();
const marked = StateField.define({
	create: () => Decoration.none,
	update(lines, transaction) {
		lines = lines.map(transaction.changes);
		for (const effect of transaction.effects.filter(e => e.is(mark))) {
			lines = Decoration.set(Decoration.line({ class: "cm-marked" }).range(effect.value));
		}
		return lines;
	},
	provide: field => EditorView.decorations.from(field),
});

// showLine marks and shows line 12 for #line-12. It belongs to the first editor of the page.
function showLine(view, host) {
	const number = Number(/^#line-(\d+)$/.exec(location.hash)?.[1]);
	if (!number || host !== document.querySelector(".editor")) {
		return;
	}
	const line = view.state.doc.line(Math.min(number, view.state.doc.lines));
	view.dispatch({
		selection: EditorSelection.cursor(line.from),
		effects: [mark.of(line.from), EditorView.scrollIntoView(line.from, { y: "center" })],
	});
	host.scrollIntoView({ block: "nearest" });
	view.focus();
}

// --- what the server knows of the text ---------------------------------------------------------

// findings asks for errors and warnings.
async function findings(view, address) {
	const doc = view.state.doc;
	const { body } = await askJSON(address, {
		method: "POST", body: doc.toString(), headers: { "Content-Type": "text/plain; charset=utf-8" },
	});
	return (body.findings ?? []).map(f => {
		const line = doc.line(Math.min(Math.max(f.line, 1), doc.lines));
		const from = f.column > 0 ? line.from + offsetOf(line.text, f.column) : line.from + line.text.search(/\S|$/);
		const word = view.state.wordAt(from);
		const to = f.column > 0 ? word?.to ?? Math.min(from + 1, line.to) : line.to;
		return { from, to: Math.max(from, to), severity: f.level === "error" ? "error" : "warning", message: f.message };
	});
}

// completions asks for the names that complete the address before the cursor.
async function completions(context, address) {
	const prefix = addressBefore(context.state.sliceDoc(context.state.doc.lineAt(context.pos).from, context.pos));
	if (!prefix && !context.explicit) {
		return null;
	}
	const { body } = await askJSON(url(address, { prefix }));
	if (!body.options?.length || context.aborted) {
		return null;
	}
	return { from: context.pos - prefix.length + (body.from ?? 0), options: body.options, validFor: /^\w*$/ };
}

// help shows what the server says of the address under the mouse (and with F1 of that at the
// cursor), and goes to the object with F12 or Ctrl-click.
function help(area, hover, go) {
	const known = new Map();
	function about(address, name) {
		const key = address + " " + name;
		if (!known.has(key)) {
			known.set(key, askJSON(url(address, { name })).then(({ status, body }) => {
				if (status !== 200) {
					known.delete(key);
				}
				return status === 200 ? body : {};
			}));
		}
		return known.get(key);
	}
	function at(view, pos) {
		const line = view.state.doc.lineAt(pos);
		const found = addressAt(line.text, pos - line.from);
		return found && { name: found.name, from: line.from + found.from, to: line.from + found.to };
	}
	async function follow(view, pos) {
		const place = at(view, pos);
		const { href } = place ? await about(go, place.name) : {};
		if (href) {
			location.assign(href);
		} else {
			say(area, t("editor.noObject", { name: place?.name ?? "" }), "bad");
		}
	}
	async function tell(view) {
		const place = at(view, view.state.selection.main.head);
		const { title, text } = place ? await about(hover, place.name) : {};
		say(area, title || text ? [title, text].filter(Boolean).join(": ") : t("editor.noHelp", { name: place?.name ?? "" }));
	}
	const extensions = [
		keymap.of([{ key: "F12", run: view => (follow(view, view.state.selection.main.head), true) }]),
		EditorView.domEventHandlers({
			mousedown(event, view) {
				const pos = event.button === 0 && (event.ctrlKey || event.metaKey) ? view.posAtCoords(event) : null;
				if (pos !== null && at(view, pos)) {
					event.preventDefault();
					follow(view, pos);
					return true;
				}
			},
		}),
	];
	if (hover) {
		extensions.push(keymap.of([{ key: "F1", run: view => (tell(view), true) }]), hoverTooltip(async (view, pos) => {
			const place = at(view, pos);
			const { title, text, href } = place ? await about(hover, place.name) : {};
			if (!title && !text) {
				return null;
			}
			return {
				pos: place.from, end: place.to, above: true,
				create() {
					const dom = el("div", { className: "cm-help" });
					dom.append(el("strong", {}, title ?? place.name), el("div", {}, text ?? ""));
					if (href) {
						dom.append(el("a", { href }, t("editor.open")));
					}
					return { dom };
				},
			};
		}));
	}
	return extensions;
}
