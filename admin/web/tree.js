// Trees that open when asked: buttons that show and hide what is below them, and arrow keys.

import { askPart, attach, each, onPart, say } from "./page.js";

onPart(root => each(root, "ul[data-tree]", tree => {
	tree.addEventListener("click", event => {
		const fold = event.target.closest("[data-open]");
		const more = event.target.closest("[data-more]");
		if (event.ctrlKey || event.metaKey || event.shiftKey || !(fold || more)) {
			return; // a new tab is wanted
		}
		event.preventDefault();
		fold ? toggle(fold) : showMore(more);
	});
	tree.addEventListener("keydown", event => key(event, tree));
}));

const list = fold => fold.closest("li").querySelector(":scope > ul");
const isOpen = fold => fold.getAttribute("aria-expanded") === "true";

async function toggle(fold, open = !isOpen(fold)) {
	fold.setAttribute("aria-expanded", open);
	if (list(fold)) {
		list(fold).hidden = !open;
		return;
	}
	if (!open || fold.ariaBusy === "true") {
		return;
	}
	fold.ariaBusy = "true";
	try {
		const part = await askPart(fold.dataset.open);
		const ul = part.querySelector("ul");
		fold.closest("li").append(ul);
		ul.hidden = !isOpen(fold); // it may have been closed meanwhile
		attach(ul);
	} catch (err) {
		fold.setAttribute("aria-expanded", false);
		say(fold.closest("nav") ?? fold.closest("li"), err.message, "bad");
	}
	fold.ariaBusy = null;
}

// showMore replaces the link to the rest of a table by the rest.
async function showMore(link) {
	const item = link.closest("li");
	try {
		const items = [...(await askPart(link.dataset.more)).querySelector("ul").children];
		item.replaceWith(...items);
		items.forEach(attach);
		items[0]?.querySelector("a.to, [data-more]")?.focus();
	} catch (err) {
		say(item.closest("nav") ?? item, err.message, "bad");
	}
}

// key moves between the rows that are shown. The arrows to the sides open and close.
function key(event, tree) {
	const row = event.target.closest("li");
	if (!row || event.ctrlKey || event.metaKey || event.altKey) {
		return;
	}
	const fold = row.querySelector(":scope > * > [data-open], :scope > [data-open]");
	const links = [...tree.querySelectorAll("li")].filter(li => li.checkVisibility()).map(target);
	const at = links.indexOf(target(row));
	const open = fold && isOpen(fold);
	let to;
	switch (event.key) {
	case "ArrowDown": to = links[at + 1]; break;
	case "ArrowUp": to = links[at - 1]; break;
	case "Home": to = links[0]; break;
	case "End": to = links.at(-1); break;
	case "ArrowRight":
		if (fold && !open) {
			toggle(fold, true);
		} else if (open) {
			to = links[at + 1];
		}
		break;
	case "ArrowLeft":
		if (open) {
			toggle(fold, false);
		} else if (row.parentElement !== tree) {
			to = target(row.parentElement.closest("li"));
		}
		break;
	default: return;
	}
	event.preventDefault();
	to?.focus();
}

// target returns the link of a row that takes the focus.
function target(row) {
	const links = [...row.querySelectorAll(":scope > a, :scope > button, :scope > :not(ul) a, :scope > :not(ul) button")];
	return links.find(l => !("open" in l.dataset)) ?? links[0];
}
