// Light, dark, or as the system has it; and the menu of narrow screens.

import { each, onPart } from "./page.js";

onPart(root => each(root, "select[data-theme-choice]", select => {
	select.hidden = false;
	select.addEventListener("change", () => {
		const secure = location.protocol === "https:" ? "; Secure" : "";
		document.cookie = `scripterTheme=${select.value}; Path=${select.dataset.path}; SameSite=Strict${secure}; ` +
			(select.value ? "Max-Age=31536000" : "Max-Age=0");
		if (select.value) {
			document.documentElement.dataset.theme = select.value;
		} else {
			delete document.documentElement.dataset.theme;
		}
	});
}));

// The menu is closed where there is little room.
onPart(root => each(root, "details[data-narrow]", details => {
	const narrow = matchMedia("(max-width: 760px)");
	const set = () => details.open = !narrow.matches;
	narrow.addEventListener("change", set);
	set();
}));
