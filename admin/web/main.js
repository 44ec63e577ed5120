// The script of the web page. A page is plain HTML that works without it; each module finds its
// elements by a data- attribute. This is what pages and the server may rely on.
//
// PAGE
//   <body data-csrf="TOKEN">       the token of the session. Each POST that the script makes itself has it in
//                                  the header X-CSRF-Token; forms have their field besides.
//   <template id="texts">          texts that the script shows: <span data-key="save.saved">Saved.</span> for each
//                                  key t("…") in this folder ("js." + key in texts.json). {name} is filled in. Keys
//                                  "cm.…" are the texts of CodeMirror's own panels, by the English ones: "cm.Find".
//   <p data-status role="status">  where messages of a form are shown; without it a line is added to its end.
//   Fragments of HTML are asked for with "Accept: text/html"; modules find their elements in them too.
//   JSON is asked for with "Accept: application/json". Any JSON answer may be {"error":"…"}, which is shown.
//
// EDITOR  <textarea name="value" data-editor="lua|html|text" [data-lint=URL] [data-complete=URL] [data-hover=URL]
//          [data-go=URL] [readonly]> with a <label for> or aria-label. The textarea is hidden, and keeps the text.
//   data-lint      POST, the text as text/plain → {"findings":[{"line":1,"column":1,"message":"…","level":"error"}]};
//                  the level is error or warning. Columns count characters from 1; 0 or none means the whole line.
//   data-complete  GET ?prefix=string.fo → {"from":7,"options":[{"label","type","detail","info"}]}; from is where
//                  in the prefix the labels begin; types are CodeMirror's: function, variable, property, constant,
//                  keyword, …
//   data-hover     GET ?name=a.b.c → {"title":"…","text":"…","href":"…"}, all optional; {} = nothing is known
//   data-go        as data-hover, for F12 and Ctrl-click; without it data-hover is asked
//   data-recall    Up in the first line and Down in the last recall the values of the form's fields with that name,
//                  the last first.
//   #line-12 in the URL of the page marks and shows that line of the first editor.
//   Keys: Tab indents (Esc, then Tab leaves), Ctrl-F, Ctrl-Space completes, Ctrl-Shift-M lists the findings, F8 goes
//   to the next, F1 tells what hovering shows, F12 goes to the object, Ctrl-Z, Ctrl-Y.
//   To change the text from outside: set textarea.value and dispatch "change" on it.
//   CSS: --cm-min and --cm-max are the least and greatest height.
//
// SAVE  <form method="post" action=URL data-save> with <input type="hidden" name="version" value=N>
//   is sent as forms are (urlencoded, or multipart if its enctype says so), with the button, as JSON's client.
//   → {"saved":true,"version":N,"message":"…"}: the person stays on the page; the message is shown. With "size"
//          (bytes) and "modified" (RFC 3339), elements with data-fact="size", "modified" and "version" show them. With
//          data-save="page" and "page":"URL" the page goes there instead: more of it depends on the value.
//   → {"location":"URL"} without saved: the page goes there
//   → 409 {"error":"…","conflict":{"base":"…","theirs":"…","mine":"…","merged":"…","version":N,"who":"…","when":"…",
//          "href":"…"}}: shown side by side. With "deleted":true, and for other fields than editors,
//          the form is sent again as without the script: the server shows a page. base null = unknown. What the
//          person chooses is sent again with version = conflict.version.
//   → 403: if the page, loaded again, has another data-csrf (somebody has logged in again), it is sent once more.
//   Ctrl-S presses its first submit button without data-into, data-run or data-plain. A button with data-plain is
//   sent as without the script. While there are unsaved changes the form has data-unsaved, and leaving asks; a page may
//   come with it.
//   <form data-guard> is sent as without the script, but leaving asks too.
//   <button data-into="#ID" [formaction=URL]> in any form: the answer, a fragment (the request has X-Part: 1), is put
//   into that element. <button data-run> is pressed by Ctrl-Enter.
//
// OUTLINE  <textarea name="value" data-outline [readonly]>: a line for each heading, a tab for each level.
//
// TREE  <ul data-tree> of <li><div>[<a role="button" data-open=URL aria-expanded="false|true">]
//   <a href class="to">…</a></div>[<ul>…</ul>]</li>. GET data-open → a fragment with a <ul>, which is added to the item
//   the first time.
//   <li><a data-more=URL href>: replaced by the items of the <ul> that it answers. Arrow keys, Home, End.
//
// PALETTE  <a href data-palette=URL>, once. Ctrl-K and a click open it.
//   GET ?q=… (empty at first) → {"commands":[{"label","detail","href"}],"objects":[{"address","kind","href","match"}],
//   "next":"…","percent":40}. While there is a next, and few objects, ?q=…&from=NEXT is asked.
//
// GRID  <table data-grid data-save=URL> with <td data-edit="ADDRESS" data-version="N">: cells of one line.
//   POST cell=ADDRESS&value=…&version=N ("" for a new cell)
//   → {"saved":true,"version":N,"value":"as shown","message":"…"}
//   → 409 {"error":"…","conflict":{"version":N}}: the error is shown; Enter again saves all the same, with that version
//   Keys: arrows, Home, End, Enter or F2 or a double click edits, Enter saves, Esc does not.
//   <details data-paste> with a form with <textarea name="text"> and a button: rows (lines, tabs or JSON) that are
//   pasted anywhere on the page are put into it, and it is opened.
//
// DROP  <form method="post" enctype="multipart/form-data" data-drop> with one <input type="file">: files may be dropped
//   on it or pasted. → {"location":"URL"}: goes there; {"saved":true,"page":"URL"}: the page is loaded again,
//   at the URL that says what was done.
//
// LIVE  <div data-live=URL [data-every="15"]>: GET → the fragment that it contains, with If-None-Match; at most one
//   request per 10 s and page, none while hidden or paused. Rows with data-key keep their focus; new ones are told.
//   Not on parts of tables: the fragment is the whole table. While the server does not answer it has data-stale.
//
// APPEARANCE  <select data-theme-choice data-path="/scripter/" hidden> with the values "", light, dark: sets data-theme
//   of <html>, and the cookie scripterTheme with that path.
//   <details data-narrow open>: closed on narrow screens.

import "./appearance.js";
import "./drop.js";
import "./editor.js";
import "./grid.js";
import "./live.js";
import "./outline.js";
import "./palette.js";
import "./save.js";
import "./tree.js";
import { attach } from "./page.js";

attach(document);
