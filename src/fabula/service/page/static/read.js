// Reading: scroll to citations, update the margin, and offer actions for selected text.

import { markNames } from "./names.js";
import { bookmarks, fetchPart, isFree, make, reading, tell } from "./shell.js";

const desk = document.querySelector(".desk");
const book = desk.querySelector(".book");
const margin = document.querySelector("#place-margin");
const marks = [...book.querySelectorAll("mark[id]")];
const sections = [...book.querySelectorAll("section[data-section]")];
const paragraphs = [...book.querySelectorAll("[data-at]")];
const calm = matchMedia("(prefers-reduced-motion: reduce)");

reading.set(desk.dataset.collection, desk.dataset.document);

// The list of sections is a column on a wide screen, and folded on a narrow one.
if (matchMedia("(max-width: 1100px)").matches) desk.querySelector(".sections details").open = false;

/** Scroll a citation to the middle of the window. */
function show(mark, behavior = "instant") {
  mark.scrollIntoView({ block: "center", behavior: calm.matches ? "instant" : behavior });
}

/** The element that the address names: by its fragment, or by the number of a section. */
const targetOfAddress = () => document.getElementById(decodeURIComponent(location.hash.slice(1)))
  ?? document.getElementById(`s${new URLSearchParams(location.search).get("section")}`);

function showTarget() {
  const target = targetOfAddress() ?? document.getElementById("lit") ?? (hasBookmark() ? lastRead() : null);
  if (!target) return;
  if (target.matches("mark, [data-at]")) show(target);
  else target.scrollIntoView({ behavior: "instant" });
  // The Tab key continues from here.
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
}
// The reader's bookmark: what comes after it is not told by the margin, nor by answers

let bookmark = bookmarks.get(desk.dataset.collection, desk.dataset.document);
const askLink = desk.querySelector(`a[href="${CSS.escape(desk.dataset.ask)}"]`) ?? desk.querySelector(".ways a");

const toBookmark = desk.querySelector("#bookmark-name");
const entries = [...desk.querySelectorAll(".sections a[data-start]")];

/** The entry of the contents for the section in which the text before a character is. */
const entryBefore = (until) => entries.findLast((entry) => Number(entry.dataset.start) < until);

/** How much of the book is before a character, in percent. */
const shareOf = (until) => Math.round((100 * until) / Math.max(...entries.map((entry) => Number(entry.dataset.end))));

/** The name of a section, after those of the sections that it is in. */
function nameOf(entry) {
  const names = [];
  for (let item = entry.closest("li"); item; item = item.parentElement.closest("li")) {
    names.unshift(item.querySelector("a").textContent);
  }
  return names.join(" · ");
}

function showBookmark() {
  desk.querySelector("#bookmark").hidden = false;
  desk.querySelector("#bookmarked").hidden = !bookmark;
  toBookmark.textContent = bookmark ? `${bookmark.name}, ${shareOf(bookmark.until)} %` : "";
  toBookmark.href = (bookmark && entryBefore(bookmark.until)?.href) ?? "";
  askLink.href = bookmark ? `${desk.dataset.ask}&until=${bookmark.until}` : desk.dataset.ask;
  hideLater();
  hideLaterText();
  fetchNotes();
  document.documentElement.classList.remove("bookmarked");
  if (!bookmark) return;
  // The server does not know the bookmark: what it has told of the whole book is taken away.
  for (const told of desk.querySelectorAll(".summary-of-note, .shown-passage")) told.remove();
}

const hiddenSections = desk.querySelector("#hidden-sections");
const hiddenText = desk.querySelector("#hidden-text");
let isWholeShown = false;
let isTextShown = false;
let textInSight = paragraphs;

/** Hide the text that comes after the bookmark, until the reader wants to read on. */
function hideLaterText() {
  const isLater = (paragraph) => Boolean(bookmark) && !isTextShown && Number(paragraph.dataset.at) >= bookmark.until;
  for (const paragraph of paragraphs) paragraph.hidden = isLater(paragraph);
  textInSight = paragraphs.filter((paragraph) => !paragraph.hidden);
  // A heading that was added stands in no paragraph: the section is hidden as a whole.
  for (const each of sections) each.hidden = !each.querySelector("[data-at]:not([hidden])");
  for (const button of book.querySelectorAll("[data-until]")) {
    button.hidden = Boolean(bookmark) && !isTextShown && Number(button.dataset.until) >= bookmark.until;
  }
  hiddenText.hidden = textInSight.length === paragraphs.length;
  const last = textInSight.at(-1);
  if (last) last.after(hiddenText);
  else sections[0]?.before(hiddenText);
  const target = targetOfAddress() ?? document.getElementById("lit");
  const isAsked = !hiddenText.hidden && Boolean(target?.closest("[hidden]"));
  hiddenText.querySelector("span").textContent = isAsked
    ? "The place that you asked for comes after your bookmark, and is hidden."
    : "What comes after your bookmark is hidden.";
  if (isAsked) hiddenText.scrollIntoView({ block: "center", behavior: "instant" });
}
hiddenText.querySelector("button").addEventListener("click", () => {
  const next = paragraphs.find((paragraph) => paragraph.hidden);
  isTextShown = true;
  hideLaterText();
  drawTicks();
  follow();
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  if (targetOfAddress() ?? document.getElementById("lit")) showTarget();
});

/** Hide the names of sections, and the citations, that come after the bookmark; say how many. */
function hideLater() {
  const isLater = (element) => Boolean(bookmark) && !isWholeShown && Number(element.dataset.start) >= bookmark.until;
  const later = entries.filter(isLater);
  for (const entry of entries) {
    entry.closest("li").hidden = isLater(entry);
    entry.classList.toggle("has-bookmark", Boolean(bookmark) && entry === entryBefore(bookmark.until));
  }
  for (const cited of desk.querySelectorAll(".cited li[data-start], .notes li[data-start]")) cited.hidden = isLater(cited);
  const name = desk.querySelector("#next-section span");
  if (name) name.hidden = isLater(name.parentElement);
  hiddenSections.hidden = !later.length;
  const count = later.length === 1 ? "One section is" : `${later.length} sections are`;
  hiddenSections.querySelector("span").textContent = `${count} hidden, as they come after your bookmark.`;
}
hiddenSections.querySelector("button").addEventListener("click", () => {
  isWholeShown = true;
  hideLater();
  entries[0]?.focus();
});

/** The character at which the last paragraph ends that is wholly in the window: what stands there may have been read. */
function endOfSight() {
  const { top } = desk.querySelector(".margin").getBoundingClientRect();
  // On a phone the margin covers the foot of the window.
  const foot = top > innerHeight / 2 ? Math.min(top, innerHeight) : innerHeight;
  let at = textInSight.indexOf(placeInSight());
  while (textInSight[at + 1]?.getBoundingClientRect().bottom <= foot) at += 1;
  const [last, after] = [textInSight[at], paragraphs[paragraphs.indexOf(textInSight[at]) + 1]];
  return after ? Number(after.dataset.at) : Number(last.dataset.at) + [...last.textContent].length;
}

function setBookmark(until) {
  const entry = entryBefore(until);
  bookmark = { until, name: entry ? nameOf(entry) : desk.querySelector("h1").textContent };
  bookmarks.set(desk.dataset.collection, desk.dataset.document, bookmark);
  cache.clear();
  shownRange = [0, 0];
  isWholeShown = false;
  // The reader is in the middle of the text, and goes on: it is hidden when the book is opened again.
  isTextShown = true;
  showBookmark();
  drawTicks();
  follow();
  markNames(section);
  tell("The bookmark is set: answers about this book use nothing that comes later.");
}
desk.querySelector("#set-bookmark").addEventListener("click", () => {
  if (textInSight.length) setBookmark(endOfSight());
});
desk.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-until]");
  if (button) setBookmark(Number(button.dataset.until));
});
toBookmark.addEventListener("click", (event) => {
  if (!hasBookmark()) return; // It is on another page of the book, to which the link leads.
  event.preventDefault();
  show(lastRead(), "smooth");
});

/** The last paragraph on this page before the bookmark. */
const lastRead = () => paragraphs.findLast((paragraph) => Number(paragraph.dataset.at) < bookmark.until);

/** Whether the bookmark is in the text of this page. */
function hasBookmark() {
  const section = bookmark && entryBefore(bookmark.until)?.dataset.section;
  return sections.some((each) => each.dataset.section === section) && Boolean(lastRead());
}
desk.querySelector("#clear-bookmark").addEventListener("click", () => {
  bookmarks.clear(desk.dataset.collection, desk.dataset.document);
  bookmark = null;
  cache.clear();
  showBookmark();
  drawTicks();
  markNames(section);
  tell("The bookmark is removed.");
});

// The current section, and the margin of the place in view

let section = null;
const cache = new Map();
let shownRange = [0, 0];
let requests = 0;

/** The first paragraph below the upper third of the window. */
function placeInSight() {
  const line = innerHeight / 3;
  let low = 0, high = textInSight.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (textInSight[middle].getBoundingClientRect().bottom < line) low = middle + 1;
    else high = middle;
  }
  return textInSight[low];
}

const contents = desk.querySelector(".sections");
const readToItsEnd = make("button", "plain small", "I have read it");
readToItsEnd.type = "button";

/** Mark the section in view in the contents, and scroll them to it. */
function showEntry() {
  const entry = entries.find((each) => each.dataset.section === section?.dataset.section);
  for (const each of contents.querySelectorAll("[aria-current]")) each.removeAttribute("aria-current");
  entry?.setAttribute("aria-current", "true");
  if (!entry) return;
  readToItsEnd.dataset.until = entry.dataset.end;
  entry.after(readToItsEnd);
  // The column scrolls on a wide screen, the list in it on a narrow one.
  for (const box of [contents, contents.querySelector("ol")]) {
    box.scrollTop += entry.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  }
}
contents.querySelector("details").addEventListener("toggle", showEntry);
desk.querySelector(".to-contents").addEventListener("click", () => { contents.querySelector("details").open = true; });

function follow() {
  const place = placeInSight();
  if (!place) return;
  const now = place.closest("section[data-section]");
  if (now !== section) {
    section = now;
    showEntry();
    markNames(section);
  }
  showMargin(Number(place.dataset.at));
  recapUpTo(Number(place.dataset.at));
  showNotes();
}

// Notes: those of the section in view are beside the text, and their words are coloured in it

const beside = document.querySelector("#notes-beside");
let notesAsked = 0;

/** Fetch the notes on the book, up to the bookmark: what they say may tell of later text. */
async function fetchNotes() {
  if (!desk.dataset.notes) return;
  const request = ++notesAsked;
  beside.querySelector("ul")?.remove();
  CSS.highlights?.delete("noted");
  showNotes();
  try {
    const part = await fetchPart(`${desk.dataset.read}/notes/beside${bookmark ? `?until=${bookmark.until}` : ""}`);
    const list = part.querySelector(".beside-list");
    if (request !== notesAsked || !list) return;
    beside.append(document.importNode(list, true));
  } catch {
    return; // The text can be read without its notes; the link above it leads to them.
  }
  colourNotes();
  showNotes();
}

/** Show the notes of the section in view. */
function showNotes() {
  const within = section ? [...section.querySelectorAll("[data-at]")] : [];
  const after = within.length ? paragraphs[paragraphs.indexOf(within.at(-1)) + 1] : null;
  const start = within.length ? Number(within[0].dataset.at) : 0;
  const end = after ? Number(after.dataset.at) : Infinity;
  let count = 0;
  for (const note of beside.querySelectorAll(".beside-list > li")) {
    note.hidden = !(Number(note.dataset.start) < end && Number(note.dataset.end) > start);
    if (!note.hidden) count += 1;
  }
  beside.hidden = count === 0;
}

/** The node and the offset of a character of the book; the end of its paragraph, if it is between two. */
function nodeAt(character) {
  let paragraph = null;
  for (const each of paragraphs) {
    if (Number(each.dataset.at) > character) break;
    paragraph = each;
  }
  if (!paragraph) return null;
  let left = character - Number(paragraph.dataset.at);
  const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
  let node = null;
  while (walker.nextNode()) {
    node = walker.currentNode;
    const points = [...node.data];
    // Characters are code points, as in Python; an offset counts UTF-16 units.
    if (left <= points.length) return [node, points.slice(0, left).join("").length];
    left -= points.length;
  }
  return node && [node, node.data.length];
}

/** Colour the words of notes, where the browser can do so without a change of the text. */
function colourNotes() {
  if (!CSS.highlights) return;
  const ranges = [];
  for (const note of beside.querySelectorAll(".beside-list > li")) {
    const [from, to] = [nodeAt(Number(note.dataset.start)), nodeAt(Number(note.dataset.end))];
    if (!from || !to) continue;
    const range = document.createRange();
    range.setStart(...from);
    range.setEnd(...to);
    ranges.push(range);
  }
  CSS.highlights.set("noted", new Highlight(...ranges));
}

const soFar = document.querySelector("#so-far");

/** Let the link to the recap lead to the place in view: what comes after it is not told. */
function recapUpTo(at) {
  if (!soFar) return;
  const address = new URL(soFar.href);
  address.searchParams.set("at", at);
  soFar.href = address;
}

async function showMargin(at) {
  // Wait until the reader stops scrolling: only the last request of a series goes on, and none where
  // the reader has come back to the place that is shown.
  const request = ++requests;
  if (shownRange[0] <= at && at < shownRange[1]) return;
  await new Promise((done) => setTimeout(done, 150));
  if (request !== requests) return;
  let place = [...cache.values()].find((each) => each.from <= at && at < each.to);
  if (!place) {
    try {
      const until = bookmark ? `&until=${bookmark.until}` : "";
      const part = await fetchPart(`${desk.dataset.read}/margin?at=${at}${until}`);
      const node = part.querySelector(".place");
      if (!node) return;
      place = { from: Number(node.dataset.from), to: Number(node.dataset.to), node };
      cache.set(place.from, place);
    } catch {
      return; // The margin stays as it is: the text can be read without it.
    }
  }
  if (request !== requests) return;
  shownRange = [place.from, place.to];
  margin.replaceChildren(place.node.cloneNode(true));
}

showBookmark();
if (!history.state?.scrolled) {
  showTarget();
  history.replaceState({ scrolled: true }, "");
}
if (bookmark) {
  margin.replaceChildren();
} else {
  const first = margin.querySelector(".place");
  if (first) shownRange = [Number(first.dataset.from), Number(first.dataset.to)];
}
let waiting = false;
addEventListener("scroll", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; follow(); });
}, { passive: true });
follow();

// Marks of the citations at the edge of the window

const ticks = document.querySelector("#ticks");
function drawTicks() {
  const whole = document.documentElement.scrollHeight;
  ticks.replaceChildren(...marks.filter((mark) => !mark.closest("[hidden]")).map((mark) => {
    const tick = document.createElement("a");
    tick.href = `#${mark.id}`;
    tick.tabIndex = -1;
    tick.className = mark.classList.contains("target") ? "target" : "";
    tick.style.top = `${((mark.getBoundingClientRect().top + scrollY) / whole) * 100}%`;
    return tick;
  }));
  ticks.hidden = marks.length === 0;
}
drawTicks();
addEventListener("resize", drawTicks);

// Keyboard shortcuts

// The citation that was shown last, until the reader scrolls. It is remembered because its position
// does not show it: near the ends of a book it can't be in the middle, nor while scrolling to it.
let last = marks.find((mark) => mark === (targetOfAddress() ?? document.getElementById("lit"))) ?? null;
addEventListener("hashchange", () => { last = marks.find((mark) => mark === targetOfAddress()) ?? null; });
for (const name of ["wheel", "touchmove", "pointerdown"]) {
  addEventListener(name, () => { last = null; }, { passive: true });
}

function step(forward) {
  if (last) return marks[marks.indexOf(last) + (forward ? 1 : -1)];
  const line = innerHeight / 2;
  const places = marks.map((mark) => mark.getBoundingClientRect().top);
  return marks[forward ? places.findIndex((top) => top > line + 4) : places.findLastIndex((top) => top < line - 40)];
}
document.addEventListener("keydown", (event) => {
  if (!isFree(event)) return;
  if (event.key === "n" || event.key === "p") {
    const mark = step(event.key === "n");
    if (!mark) return;
    show(mark, "smooth");
    last = mark;
    return;
  }
  last = null;
  if (event.key === "b") desk.querySelector("#set-bookmark").click();
  if (event.key === "]" || event.key === "[") {
    const at = sections.indexOf(section) + (event.key === "]" ? 1 : -1);
    sections[at]?.scrollIntoView({ behavior: calm.matches ? "instant" : "smooth" });
  }
});

// Selected text

/** Longer words are not repeated in the form of a note on them: an address has its limit. */
const MAX_QUOTE_CHARACTERS = 1000;

const bar = document.querySelector("#selected");
const askSelected = document.querySelector("#ask-selected");
const linkSelected = document.querySelector("#link-selected");

/** The paragraph of the book that a place of the page is in. */
function paragraphOf(node) {
  return (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest("[data-at]");
}

/** The character of the book at a place of the page; characters are code points, as in Python. */
function characterAt(node, offset) {
  const paragraph = paragraphOf(node);
  if (!paragraph) return null;
  const before = document.createRange();
  before.setStart(paragraph, 0);
  before.setEnd(node, offset);
  return Number(paragraph.dataset.at) + [...before.toString()].length;
}

function offer() {
  const selection = getSelection();
  const text = selection.toString().trim();
  if (!text || !selection.rangeCount || !book.contains(selection.anchorNode)) {
    if (!bar.contains(document.activeElement)) bar.hidden = true;
    return;
  }
  const range = selection.getRangeAt(0);
  const start = characterAt(range.startContainer, range.startOffset);
  const end = characterAt(range.endContainer, range.endOffset);
  if (start === null || end === null || start >= end) { bar.hidden = true; return; }
  const short = text.length > 300 ? `${text.slice(0, 300)}…` : text;
  const until = bookmark ? `&until=${bookmark.until}` : "";
  askSelected.href = `${desk.dataset.ask}${until}&draft=${encodeURIComponent(`What does this mean: “${short.replace(/\s+/g, " ")}”`)}`;
  linkSelected.href = `${desk.dataset.read}?chars=${start}-${end}#lit`;
  const noteSelected = bar.querySelector("#note-selected");
  if (noteSelected) {
    const address = new URL(noteSelected.href);
    address.searchParams.set("at", `${start}-${end}`);
    // Between paragraphs the page has words of its own.
    const isWhole = paragraphOf(range.startContainer) === paragraphOf(range.endContainer);
    address.searchParams.set("quote", isWhole && text.length <= MAX_QUOTE_CHARACTERS ? text : "");
    address.searchParams.set("to", `${desk.dataset.read}?chars=${start}-${end}#lit`);
    noteSelected.href = address;
    for (const name of ["at", "to"]) bar.querySelector(`#highlight-${name}`).value = address.searchParams.get(name);
  }
  const box = range.getBoundingClientRect();
  bar.hidden = false;
  bar.style.top = `${Math.min(Math.max(box.bottom + 8, 8), innerHeight - bar.offsetHeight - 8)}px`;
  bar.style.left = `${Math.min(Math.max(box.left, 8), innerWidth - bar.offsetWidth - 8)}px`;
}
document.addEventListener("selectionchange", () => requestAnimationFrame(offer));
offer(); // A reader may have selected words before this script ran.
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !bar.hidden) {
    getSelection().removeAllRanges();
    bar.hidden = true;
  }
});
linkSelected.addEventListener("click", async (event) => {
  if (!navigator.clipboard) return; // Without a clipboard the link is followed.
  event.preventDefault();
  try {
    await navigator.clipboard.writeText(linkSelected.href);
    tell("The link was copied.");
    linkSelected.textContent = "Link copied";
    setTimeout(() => { linkSelected.textContent = "Copy a link"; }, 2000);
  } catch {
    location.href = linkSelected.href;
  }
});
