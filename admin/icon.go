package admin

import (
	"html/template"
	"sync"
)

// icon returns a small picture, drawn with lines in the colour of the text. Words beside it say
// the same, so screen readers skip it.
func icon(name string) template.HTML {
	paths, ok := icons()[name]
	if !ok {
		paths = icons()["object"]
	}
	return template.HTML(`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">` + paths + `</svg>`)
}

// icons are the shapes of the pictures, in a square of 16 units.
var icons = sync.OnceValue(func() map[string]template.HTML {
	return map[string]template.HTML{
		// kinds
		"table":   `<path d="M1.5 4.5v8h13v-7h-7l-1.5-2h-4.500z"/>`,
		"script":  `<path d="m5 4-3.500 4L5 12M11 4l3.500 4L11 12M9.200 3 6.800 13"/>`,
		"text":    `<path d="M3 3.500h10M3 6.500h10M3 9.500h10M3 12.500h6"/>`,
		"string":  `<path d="M3 12.500 7 3.500h2l4 9M4.500 9.500h7"/>`,
		"outline": `<path d="M2 4h12M5 8h9M8 12h6M2 8h.01M5 12h.01"/>`,
		"number":  `<path d="M6 2.500 4.500 13.500M11.500 2.500 10 13.500M2.500 6h11.500M2 10h11.500"/>`,
		"boolean": `<rect x="1.500" y="4.500" width="13" height="7" rx="3.500"/><circle cx="11" cy="8" r="1.500"/>`,
		"date":    `<rect x="2" y="3" width="12" height="11" rx="1.500"/><path d="M2 6.500h12M5 1.500v3M11 1.500v3"/>`,
		"binary":  `<rect x="2" y="2.500" width="12" height="11" rx="1.500"/><circle cx="5.500" cy="6" r="1.200"/><path d="m2.500 12 3.500-3.500 2.500 2.500 3-3.500 2 2.500"/>`,
		"list":    `<path d="M5.500 4H14M5.500 8H14M5.500 12H14M2.500 4h.01M2.500 8h.01M2.500 12h.01"/>`,
		"address": `<path d="M6.500 9.500 9.500 6.500M7 4.500l1.500-1.500a3 3 0 0 1 4.500 4.500L11.500 9M9 11.500 7.500 13A3 3 0 0 1 3 8.500L4.500 7"/>`,
		"object":  `<rect x="3" y="3" width="10" height="10" rx="2"/>`,
		// pages
		"home":     `<path d="M2 7.500 8 2.500l6 5M3.500 6.500v7h9v-7"/>`,
		"requests": `<path d="M2 5h10M9 2l3 3-3 3M14 11H4M7 8l-3 3 3 3"/>`,
		"history":  `<circle cx="8" cy="8" r="6"/><path d="M8 4.500V8l2.500 2"/>`,
		"map":      `<path d="M2 4l4-1.500 4 1.500 4-1.500v9.500L10 13.500 6 12l-4 1.500zM6 2.500V12M10 4v9.500"/>`,
		"console":  `<rect x="1.500" y="2.500" width="13" height="11" rx="1.500"/><path d="m4 6 2.500 2L4 10M8 10.500h4"/>`,
		"settings": `<path d="M2 4.500h7M12 4.500h2M2 11.500h2M7 11.500h7"/><circle cx="10.500" cy="4.500" r="1.500"/><circle cx="5.500" cy="11.500" r="1.500"/>`,
		"users":    `<circle cx="6" cy="5" r="2.500"/><path d="M1.500 13.500c0-3 2-4.500 4.500-4.500s4.500 1.500 4.500 4.500M10.500 2.800a2.500 2.500 0 0 1 0 4.400M12 9.300c1.600.7 2.500 2 2.500 4.200"/>`,
		"person":   `<circle cx="8" cy="5" r="2.800"/><path d="M2.500 14c0-3.500 2.500-5 5.500-5s5.500 1.500 5.500 5"/>`,
		"saves":    `<path d="M2.500 2.500h9l2 2v9h-11zM5 2.500v4h5v-4M5 13.500v-4h6v4"/>`,
		"doctor":   `<path d="M8 13.500C3.500 10.500 1.500 8 1.500 5.500a3.200 3.200 0 0 1 6.500-1 3.200 3.200 0 0 1 6.500 1c0 2.500-2 5-6.500 8zM4 7.500h2l1-2 2 4 1-2h2"/>`,
		"status":   `<path d="M2 13.500h12M3.500 11V8M6.500 11V4M9.500 11V6.500M12.500 11V2.500"/>`,
		// actions
		"search": `<circle cx="7" cy="7" r="4.500"/><path d="m10.500 10.500 3.500 3.500"/>`,
		"add":    `<path d="M8 3v10M3 8h10"/>`,
		"run":    `<path d="M4.500 2.500v11l9-5.500z"/>`,
		"undo":   `<path d="M5.500 3 2.500 6l3 3M2.500 6h7a4 4 0 0 1 0 8h-3"/>`,
		"delete": `<path d="M2.500 4.500h11M6 4.500v-2h4v2M4 4.500l.6 9h6.800l.6-9M6.500 7v4M9.500 7v4"/>`,
		"edit":   `<path d="m3 13 .6-3L11 2.600l2.400 2.400L6 12.400zM9.500 4l2.400 2.400"/>`,
		"open":   `<path d="m6 4 4 4-4 4"/>`,
		"theme":  `<circle cx="8" cy="8" r="5.500"/><path d="M8 2.500v11M8 5l4.500-.01M8 8h5.500M8 11l4.500.01"/>`,
		"logout": `<path d="M9.500 3.500v-1h-7v11h7v-1M6 8h8M11.500 5.500 14 8l-2.500 2.500"/>`,
		"menu":   `<path d="M2.500 4.500h11M2.500 8h11M2.500 11.500h11"/>`,
	}
})
