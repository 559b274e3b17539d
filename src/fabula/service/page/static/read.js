// Reading: scroll to citations, update the margin, and offer actions for selected text.

import { fetchPart, isFree, tell } from "./shell.js";

const desk = document.querySelector(".desk");
const book = desk.querySelector(".book");
const margin = document.querySelector("#place-margin");
const marks = [...book.querySelectorAll("mark[id]")];
const sections = [...book.querySelectorAll("section[data-section]")];
const paragraphs = [...book.querySelectorAll("[data-at]")];
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// The list of sections is a column on a wide screen, and folded on a narrow one.
if (matchMedia("(max-width: 1100px)").matches) desk.querySelector(".sections details").open = false;

/** Scroll a citation to the middle of the window. */
function show(mark, behavior = "instant") {
  mark.scrollIntoView({ block: "center", behavior: calm.matches ? "instant" : behavior });
}

/** The element that the address names. */
const targetOfAddress = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));

function showTarget() {
  const target = targetOfAddress() ?? document.getElementById("lit");
  if (!target) return;
  if (target.matches("mark")) show(target);
  else target.scrollIntoView({ behavior: "instant" });
  // The Tab key continues from here.
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
}
if (!history.state?.scrolled) {
  showTarget();
  history.replaceState({ scrolled: true }, "");
}

// The current section, and the margin of the place in view

let section = null;
const cache = new Map();
let shownRange = [0, 0];
let requests = 0;

/** The first paragraph below the upper third of the window. */
function placeInSight() {
  const line = innerHeight / 3;
  let low = 0, high = paragraphs.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (paragraphs[middle].getBoundingClientRect().bottom < line) low = middle + 1;
    else high = middle;
  }
  return paragraphs[low];
}

function follow() {
  const place = placeInSight();
  if (!place) return;
  const now = place.closest("section[data-section]");
  if (now !== section) {
    section = now;
    for (const link of desk.querySelectorAll(".sections [aria-current]")) link.removeAttribute("aria-current");
    const link = desk.querySelector(`.sections a[data-section="${CSS.escape(now.dataset.section)}"]`);
    link?.setAttribute("aria-current", "true");
    const list = link?.closest("ol");
    if (list && list.scrollHeight > list.clientHeight) {
      list.scrollTop = link.offsetTop - list.offsetTop - list.clientHeight / 2;
    }
  }
  showMargin(Number(place.dataset.at));
}

async function showMargin(at) {
  if (shownRange[0] <= at && at < shownRange[1]) return;
  // Wait until the reader stops scrolling: only the last request of a series goes on.
  const request = ++requests;
  await new Promise((done) => setTimeout(done, 150));
  if (request !== requests) return;
  let place = [...cache.values()].find((each) => each.from <= at && at < each.to);
  if (!place) {
    try {
      const part = await fetchPart(`${desk.dataset.read}/margin?at=${at}`);
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

{
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
  ticks.replaceChildren(...marks.map((mark) => {
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
  if (event.key === "]" || event.key === "[") {
    const at = sections.indexOf(section) + (event.key === "]" ? 1 : -1);
    sections[at]?.scrollIntoView({ behavior: calm.matches ? "instant" : "smooth" });
  }
});

// Selected text

const bar = document.querySelector("#selected");
const askSelected = document.querySelector("#ask-selected");
const linkSelected = document.querySelector("#link-selected");

/** The character of the book at a place of the page; characters are code points, as in Python. */
function characterAt(node, offset) {
  const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
  const paragraph = element.closest("[data-at]");
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
  askSelected.href = `${desk.dataset.ask}&draft=${encodeURIComponent(`What does this mean: “${short.replace(/\s+/g, " ")}”`)}`;
  linkSelected.href = `${desk.dataset.read}?chars=${start}-${end}#lit`;
  const box = range.getBoundingClientRect();
  bar.hidden = false;
  bar.style.top = `${Math.min(Math.max(box.bottom + 8, 8), innerHeight - bar.offsetHeight - 8)}px`;
  bar.style.left = `${Math.min(Math.max(box.left, 8), innerWidth - bar.offsetWidth - 8)}px`;
}
document.addEventListener("selectionchange", () => requestAnimationFrame(offer));
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
