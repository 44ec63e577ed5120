// The markers of a page, in a colour of their own: for HTML they are comments, or parts of attributes.

import { Prec } from "@codemirror/state";
import { Decoration, ViewPlugin } from "@codemirror/view";

const marker = Decoration.mark({ class: "cm-marker" });

// longest is how much of a text before and after what is shown is looked at: markers may have many lines.
const longest = 2000;

function find({ state, viewport }) {
	const start = Math.max(0, viewport.from - longest);
	const text = state.sliceDoc(start, viewport.to + longest);
	return Decoration.set(Array.from(text.matchAll(/<!--#.*?-->/gs),
		m => marker.range(start + m.index, start + m.index + m[0].length)));
}

const plugin = ViewPlugin.define(view => ({
	found: find(view),
	update(change) {
		if (change.docChanged || change.viewportChanged) {
			this.found = find(change.view);
		}
	},
}), { decorations: value => value.found });

// markers returns the extension. Its elements are within those of the colours of HTML.
export function markers() { return Prec.highest(plugin); }
