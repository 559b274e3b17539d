// Reading: what is cited is brought into sight, the margin follows, and what is selected has ways on.

import { fetchPart, isFree, tell } from "./shell.js";

const desk = document.querySelector(".desk");
const book = desk.querySelector(".book");
const told = document.querySelector("#told-here");
const marks = [...book.querySelectorAll("mark[id]")];
const sections = [...book.querySelectorAll("section[data-section]")];
const paragraphs = [...book.querySelectorAll("[data-at]")];
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// A list that is a column on a wide screen is folded on a narrow one.
if (matchMedia("(max-width: 1100px)").matches) desk.querySelector(".sections details").open = false;

/** Brings a citation to the middle of the window. */
function show(mark, behavior = "instant") {
  mark.scrollIntoView({ block: "center", behavior: calm.matches ? "instant" : behavior });
}

/** What the address names. */
const named = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));

function showMeant() {
  const meant = named() ?? document.getElementById("lit");
  if (!meant) return;
  if (meant.matches("mark")) show(meant);
  else meant.scrollIntoView({ behavior: "instant" });
  // Tab goes on from here.
  meant.tabIndex = -1;
  meant.focus({ preventScroll: true });
}
if (!history.state?.scrolled) {
  showMeant();
  history.replaceState({ scrolled: true }, "");
}

// The section that one reads, and what is told of the place

let section = null;
const kept = new Map();
let shown = [0, 0];
let asked = 0;

/** The first paragraph that is in sight, in a third of the window from its top. */
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
  tellOf(Number(place.dataset.at));
}

async function tellOf(at) {
  if (shown[0] <= at && at < shown[1]) return;
  const turn = ++asked;
  await new Promise((done) => setTimeout(done, 150));
  if (turn !== asked) return;
  let found = [...kept.values()].find((one) => one.from <= at && at < one.to);
  if (!found) {
    try {
      const part = await fetchPart(`${desk.dataset.read}/margin?at=${at}`);
      const node = part.querySelector(".told");
      if (!node) return;
      found = { from: Number(node.dataset.from), to: Number(node.dataset.to), node };
      kept.set(found.from, found);
    } catch {
      return; // The margin stays as it is; the text is here.
    }
  }
  if (turn !== asked) return;
  shown = [found.from, found.to];
  told.replaceChildren(found.node.cloneNode(true));
}

{
  const first = told.querySelector(".told");
  if (first) shown = [Number(first.dataset.from), Number(first.dataset.to)];
}
let waiting = false;
addEventListener("scroll", () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; follow(); });
}, { passive: true });
follow();

// Citations as ticks at the edge

const ticks = document.querySelector("#ticks");
function drawTicks() {
  const whole = document.documentElement.scrollHeight;
  ticks.replaceChildren(...marks.map((mark) => {
    const tick = document.createElement("a");
    tick.href = `#${mark.id}`;
    tick.tabIndex = -1;
    tick.className = mark.classList.contains("meant") ? "meant" : "";
    tick.style.top = `${((mark.getBoundingClientRect().top + scrollY) / whole) * 100}%`;
    return tick;
  }));
  ticks.hidden = marks.length === 0;
}
drawTicks();
addEventListener("resize", drawTicks);

// Keys

// The citation that was shown last, until the reader goes elsewhere: near the ends of a book it
// can't be brought to the middle, and on the way there it isn't there yet.
let last = marks.find((one) => one === (named() ?? document.getElementById("lit"))) ?? null;
addEventListener("hashchange", () => { last = marks.find((one) => one === named()) ?? null; });
for (const going of ["wheel", "touchmove", "pointerdown"]) {
  addEventListener(going, () => { last = null; }, { passive: true });
}

function step(forward) {
  if (last) return marks[marks.indexOf(last) + (forward ? 1 : -1)];
  const line = innerHeight / 2;
  const places = marks.map((one) => one.getBoundingClientRect().top);
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

// What is selected

const bar = document.querySelector("#selected");
const askSelected = document.querySelector("#ask-selected");
const linkSelected = document.querySelector("#link-selected");

/** The character of the book that a place in the page is; the book counts as Python does. */
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
  const words = selection.toString().trim();
  if (!words || !selection.rangeCount || !book.contains(selection.anchorNode)) {
    if (!bar.contains(document.activeElement)) bar.hidden = true;
    return;
  }
  const range = selection.getRangeAt(0);
  const start = characterAt(range.startContainer, range.startOffset);
  const end = characterAt(range.endContainer, range.endOffset);
  if (start === null || end === null || start >= end) { bar.hidden = true; return; }
  const short = words.length > 300 ? `${words.slice(0, 300)}…` : words;
  askSelected.href = `${desk.dataset.ask}&draft=${encodeURIComponent(`What is meant by “${short.replace(/\s+/g, " ")}”?`)}`;
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
  if (!navigator.clipboard) return; // It is a link: it leads there.
  event.preventDefault();
  try {
    await navigator.clipboard.writeText(linkSelected.href);
    tell("The link is copied.");
    linkSelected.textContent = "Link copied";
    setTimeout(() => { linkSelected.textContent = "Link to it"; }, 2000);
  } catch {
    location.href = linkSelected.href;
  }
});
