// Up and Down in an editor recall what was typed before, as in a shell.

import { Prec } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { say, t } from "./page.js";

// recall returns the keys that recall the values of the fields with a name, the last first, in the form of a
// textarea.
export function recall(area, name) {
	let texts = [], at = 0; // texts[0] is what is being typed
	function go(view, step) {
		const { doc, selection: { main } } = view.state;
		if (!main.empty || doc.lineAt(main.head).number !== (step > 0 ? 1 : doc.lines)) {
			return false;
		}
		const text = doc.toString();
		if (text !== texts[at]) {
			texts = [text, ...new FormData(area.form).getAll(name).map(s => s.replaceAll("\r\n", "\n"))];
			at = 0;
		}
		let next = at + step;
		while (texts[next] === text) {
			next += step;
		}
		const found = texts[next];
		if (found === undefined) {
			return false;
		}
		at = next;
		// The same key goes on from there.
		const anchor = step > 0 && found.includes("\n") ? found.indexOf("\n") : found.length;
		view.dispatch({
			changes: { from: 0, to: doc.length, insert: found }, selection: { anchor }, scrollIntoView: true,
		});
		say(area, at ? t("recall.at", { number: at, count: texts.length - 1 }) : t("recall.own"));
		return true;
	}
	// The list of completions has the keys first.
	return Prec.high(keymap.of([
		{ key: "ArrowUp", run: view => go(view, 1) }, { key: "ArrowDown", run: view => go(view, -1) },
	]));
}
