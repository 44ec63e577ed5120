// How the editor looks: the colours are variables of the page's style sheet.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment } from "@codemirror/state";
import { EditorView, ViewPlugin } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
	{ tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.tagName], color: "var(--cm-keyword)" },
	{ tag: [tags.string, tags.special(tags.string), tags.attributeValue], color: "var(--cm-string)" },
	{ tag: [tags.comment, tags.meta, tags.documentMeta], color: "var(--cm-comment)" },
	{ tag: [tags.number, tags.bool, tags.null, tags.atom, tags.color, tags.character], color: "var(--cm-number)" },
	{
		tag: [tags.standard(tags.variableName), tags.function(tags.variableName), tags.attributeName, tags.propertyName],
		color: "var(--cm-function)",
	},
	{ tag: tags.invalid, color: "var(--bad)" },
]);

const theme = EditorView.theme({
	"&": {
		color: "var(--cm-name)", backgroundColor: "var(--panel)", fontSize: "13px",
		maxHeight: "var(--cm-max, 75vh)",
	},
	".cm-content, .cm-gutter": { minHeight: "var(--cm-min, 12em)" },
	"&.cm-focused": { outline: "none" }, // the page shows the focus around the element
	".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
	".cm-content": { caretColor: "var(--text)" },
	".cm-cursor": { borderLeftColor: "var(--text)", borderLeftWidth: "2px" },
	"&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
		{ backgroundColor: "var(--cm-selection)" },
	".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--cm-line)" },
	".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--cm-line) 60%, transparent)" },
	".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--dim)", borderRight: "1px solid var(--line)" },
	".cm-marker, .cm-marker *": { color: "var(--accent)" },
	".cm-marked": { backgroundColor: "var(--mark)" },
	".cm-matchingBracket, &.cm-focused .cm-matchingBracket":
		{ backgroundColor: "var(--accent-ground)", outline: "1px solid var(--accent)" },
	".cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-ground)" },
	".cm-selectionMatch": { backgroundColor: "var(--accent-ground)" },
	".cm-searchMatch": { backgroundColor: "var(--mark)" },
	".cm-searchMatch-selected": { backgroundColor: "var(--mark)", outline: "1px solid var(--warn)" },
	".cm-panels": { backgroundColor: "var(--sunk)", color: "var(--text)", fontFamily: "var(--sans)" },
	".cm-panels-top": { borderBottom: "1px solid var(--line)" },
	".cm-panels-bottom": { borderTop: "1px solid var(--line)" },
	".cm-panel.cm-search label": { fontSize: "13px" },
	".cm-textfield, .cm-button":
		{ background: "var(--panel)", color: "var(--text)", border: "1px solid var(--line-strong)", fontSize: "13px" },
	".cm-button": { borderRadius: "4px" },
	".cm-panel button[name=close]": { color: "var(--text)" },
	".cm-tooltip": {
		backgroundColor: "var(--panel)", color: "var(--text)", border: "1px solid var(--line-strong)", borderRadius: "4px",
		fontFamily: "var(--sans)", maxWidth: "60ch",
	},
	".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)" },
	".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]":
		{ backgroundColor: "var(--accent)", color: "var(--on-accent)" },
	".cm-completionDetail": { color: "inherit", opacity: ".85" },
	".cm-help": { padding: "6px 10px" },
	".cm-help div": { whiteSpace: "pre-line" },
	".cm-help a": { color: "var(--accent)" },
	".cm-diagnostic": { color: "var(--text)" },
	".cm-panel.cm-panel-lint ul [aria-selected], .cm-panel.cm-panel-lint ul:focus [aria-selected]":
		{ background: "var(--cm-selection)", color: "var(--text)", outline: "none" },
	".cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--good-ground) !important" },
	".cm-changedText": { background: "none !important", textDecoration: "underline var(--good)" },
	".cm-deletedChunk": { backgroundColor: "var(--bad-ground) !important" },
	".cm-deletedText": { background: "none !important", textDecoration: "underline var(--bad)" },
	".cm-collapsedLines": { background: "var(--sunk)", color: "var(--dim)" },
	".cm-collapsedLines:before, .cm-collapsedLines:after": { content: "none" }, // signs that few fonts have
});

// look returns the extensions for colours that follow the page from light to dark and back.
export function look() {
	const scheme = new Compartment();
	const isDark = () => getComputedStyle(document.documentElement).colorScheme === "dark";
	const follow = ViewPlugin.define(view => {
		const set = () => view.dispatch({ effects: scheme.reconfigure(EditorView.darkTheme.of(isDark())) });
		const observer = new MutationObserver(set);
		observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
		const system = matchMedia("(prefers-color-scheme: dark)");
		system.addEventListener("change", set);
		return { destroy: () => (observer.disconnect(), system.removeEventListener("change", set)) };
	});
	return [theme, syntaxHighlighting(colours), scheme.of(EditorView.darkTheme.of(isDark())), follow];
}
