// Names in the text of a book: those of the section in view are marked, and a click on one opens its page.

import { bookmarks } from "./shell.js";

const desk = document.querySelector(".desk[data-entities]");
const { collection, document: book, read, entities } = desk?.dataset ?? {};
const beside = document.querySelector("#named");
/** Names that are marked: where they stand, and the addresses of their pages. */
let marked = [];
let known = null;
let calls = 0;

/** Fetch who and what is named up to the bookmark: the ids by the names, and what finds a name in a text. */
async function fetchNames(until) {
  const response = await fetch(`${entities}?${new URLSearchParams({ document: book, until, limit: 1000 })}`).catch(() => null);
  const ids = new Map();
  if (!response?.ok) return { until, ids };
  for (const { id, names } of (await response.json()).rows) for (const name of names) if (!ids.has(name)) ids.set(name, id);
  const longestFirst = [...ids.keys()].sort((one, other) => other.length - one.length);
  const either = longestFirst.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll(" ", "\\s+")).join("|");
  return { until, ids, pattern: new RegExp(`(?<![\\p{L}\\p{N}])(?:${either})(?![\\p{L}\\p{N}])`, "gu") };
}

/** Mark the names of a section, and list them beside the text, those named most first. */
export async function markNames(section) {
  if (!desk || !CSS.highlights) return;
  const call = ++calls;
  const until = String(bookmarks.get(collection, book)?.until ?? "");
  if (known?.until !== until) {
    const found = await fetchNames(until);
    // The reader has come to another section meanwhile, or set the bookmark: a later call marks that.
    if (call !== calls) return;
    known = found;
  }
  marked = [];
  const counts = new Map();
  const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
  while (known.ids.size && walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.closest("p[data-at]:not([hidden])")) continue;
    for (const match of node.data.matchAll(known.pattern)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const id = known.ids.get(match[0].replace(/\s+/g, " "));
      const place = new URLSearchParams(until && { until });
      marked.push({ range, url: `${read}/entities/${id}?${place}` });
      counts.set(id, { name: match[0], url: marked.at(-1).url, count: (counts.get(id)?.count ?? 0) + 1 });
    }
  }
  CSS.highlights.set("names", new Highlight(...marked.map(({ range }) => range)));
  const most = [...counts.values()].sort((one, other) => other.count - one.count).slice(0, 12);
  beside.hidden = !most.length;
  beside.querySelector("ul").replaceChildren(...most.map(({ name, url }) => {
    const [item, link] = [document.createElement("li"), document.createElement("a")];
    link.href = url;
    link.textContent = name;
    item.append(link);
    return item;
  }));
}

desk?.querySelector(".book").addEventListener("click", ({ clientX, clientY }) => {
  if (getSelection().toString()) return;
  const caret = document.caretPositionFromPoint?.(clientX, clientY);
  const name = caret && marked.find(({ range }) => range.isPointInRange(caret.offsetNode, caret.offset));
  if (name) location.assign(name.url);
});
