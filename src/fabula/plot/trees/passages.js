// The passages of the picture: read, pinned, gone through by keys, searched; what was found.

// What a passage says.
function hue(node) { return node.band < 0 ? null : getComputedStyle(bands[node.band].element).color; }
function tint(element, node) {
  const colour = hue(node);
  if (colour) element.style.setProperty("--hue", colour); else element.style.removeProperty("--hue");
}
function tell(card, number) {
  const node = nodes[number];
  card.replaceChildren();
  tint(card, node);
  const found = rank.get(number);
  const score = found ? ` · found as ${found}, score ${graph.hits[found - 1][1].toFixed(3)}` : "";
  put(card, "div", "what", node.what + score);
  if (node.where) put(card, "div", "where", node.where);
  put(card, "div", "said", node.text.trim());
}
function listed(items, number) {
  const item = button(put(items, "li", "", ""), "", "", () => go(number));
  tint(item, nodes[number]);
  return item;
}
function list(where, title, numbers) {
  where.replaceChildren();
  if (!numbers.length) return;
  put(where, "h3", "", title);
  const items = put(where, "ul", "", "");
  for (const [number, weight] of numbers) {
    const item = listed(items, number);
    put(item, "span", "what", nodes[number].what);
    if (weight !== null) put(item, "span", "where", ` · weight ${weight.toFixed(2)}`);
    put(item, "span", "short", nodes[number].text);
  }
}
const heaviest = (edges) => [...edges].sort((one, other) => other[1] - one[1]);
function hide() {
  tip.hidden = true;
  if (pin === null) retrace();
}
function hint(number) {
  tell(tip, number);
  tip.hidden = false;
  const mark = elements[number].querySelector(".mark") || elements[number];
  const box = mark.getBoundingClientRect(), size = tip.getBoundingClientRect();
  const middle = (box.left + box.right) / 2, frame = stage.getBoundingClientRect();
  // At the other side of the stage from a summary, as its members are under it; else by the passage.
  const isLeft = middle > (frame.left + frame.right) / 2;
  const beside = isLeft ? frame.left + gutter() + 8 : frame.right - size.width - 8;
  const below = box.bottom + 12 + size.height < innerHeight;
  const isSummary = nodes[number].kind === "summary";
  const x = isSummary ? beside : middle - size.width / 2;
  const y = isSummary ? box.top : below ? box.bottom + 12 : box.top - 12 - size.height;
  tip.style.left = Math.min(Math.max(x, 8), innerWidth - size.width - 8) + "px";
  tip.style.top = Math.min(Math.max(y, 8), innerHeight - size.height - 8) + "px";
}

// A pinned passage, with all that is above and below it.
let pin = null;
function reached(number, next) {
  const found = new Set(), edges = [], open = [number];
  while (open.length) {
    const from = open.pop();
    for (const [to, weight] of next(from)) {
      edges.push([from, to, weight]);
      if (!found.has(to)) { found.add(to); open.push(to); }
    }
  }
  return [found, edges];
}
function clear() {
  for (const one of svg.querySelectorAll(".on, .pin")) one.classList.remove("on", "pin");
  svg.classList.remove("traced");
  if (pin !== null) elements[pin].setAttribute("aria-pressed", "false");
  pin = null;
  get("pinned").hidden = true;
  retrace();
}
// Lines from a passage to its members, and for one that is pinned to all above it; where what it
// rests on is closed, the chunks that it reaches.
function retrace(number = pin) {
  for (const one of svg.querySelectorAll(".trace")) one.replaceChildren();
  if (number === null) return;
  const [, up] = number === pin ? reached(number, (one) => over[one]) : [, []];
  const ties = [...nodes[number].over.map(([low, weight]) => [number, low, weight]),
    ...up.map(([low, high, weight]) => [high, low, weight])];
  for (const [high, low, weight] of ties) {
    if (weight !== null && shown(high) && shown(low)) edge(high, low, weight);
  }
  const { band } = nodes[number];
  if (band < 0 || !shown(number)) return;
  const [below] = reached(number, (one) => nodes[one].over);
  const box = (chunk) => `M${value(chunk, "x")} ${floor(bands[band])}h${value(chunk, "width")}v${STRIP}` +
    `h-${value(chunk, "width")}z`;
  const reach = [...below].filter((one) => nodes[one].kind === "chunk");
  line(bands[band], "reach", reach.map((one) => box(elements[one])).join(""));
}
const value = (element, name) => +element.getAttribute(name);
function line(band, name, drawn) {
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("class", name);
  path.setAttribute("d", drawn);
  band.element.querySelector(".trace").append(path);
  return path;
}
function edge(above, below, weight) {
  const band = bands[nodes[above].band];
  const from = elements[above].querySelector(".mark");
  const to = elements[below].querySelector(".mark") || elements[below];
  const middle = (element) => value(element, "x") + value(element, "width") / 2;
  const y = value(from, "y") + value(from, "height");
  const toY = nodes[below].band < 0 ? floor(band) : value(to, "y");
  const bend = (y + toY) / 2, x = middle(from), toX = middle(to);
  const path = line(band, "tie", `M${x} ${y}C${x} ${bend} ${toX} ${bend} ${toX} ${toY}`);
  path.setAttribute("stroke-opacity", 0.25 + 0.75 * weight);
}
function choose(number) {
  clear();
  unfold(number);
  pin = number;
  const [above] = reached(number, (one) => over[one]);
  const [below] = reached(number, (one) => nodes[one].over);
  for (const one of [number, ...above, ...below]) elements[one].classList.add("on");
  retrace();
  svg.classList.add("traced");
  elements[number].classList.add("pin");
  elements[number].setAttribute("aria-pressed", "true");
  tell(get("card"), number);
  const { kind } = nodes[number];
  list(get("above"), kind === "detail" ? "A detail of" : "Summarised by", heaviest(over[number]));
  list(get("below"), kind === "chunk" ? "Its details" : "Rests on", heaviest(nodes[number].over));
  get("pinned").hidden = false;
  get("pinned").scrollTop = get("side").scrollTop = 0;
}
get("unpin").addEventListener("click", clear);
function go(number) {
  choose(number);
  requestAnimationFrame(() => requestAnimationFrame(() => reveal(elements[number])));
}

// One stop of the Tab key for all passages; arrows go from one to the next.
let stop = 0;
const touched = (event) => {
  const element = event.target.closest?.(".node");
  return element ? +element.id.slice(1) : null;
};
nodes.forEach((node, number) => {
  const element = elements[number];
  const found = rank.get(number);
  const where = node.where ? `, ${node.where}` : "";
  element.setAttribute("role", "button");
  element.setAttribute("tabindex", "-1");
  element.setAttribute("aria-pressed", "false");
  element.setAttribute("aria-label", `${node.what}${where}${found ? `, found as ${found}` : ""}`);
});
function rest(number) {
  elements[stop].setAttribute("tabindex", "-1");
  stop = number;
  elements[stop].setAttribute("tabindex", "0");
}
function focus(number) {
  unfold(number);
  rest(number);
  elements[number].focus({ preventScroll: true });
}
rest(0);
const along = (number, step) => {
  const node = nodes[number];
  const row = nodes.flatMap((one, place) =>
    one.kind === node.kind && one.band === node.band && one.level === node.level ? [place] : []);
  const across = (place) => elements[place].getBoundingClientRect();
  const middle = (place) => across(place).left + across(place).width / 2;
  if (node.kind === "summary") row.sort((one, other) => middle(one) - middle(other));
  return row[row.indexOf(number) + step];
};
const above = (number) => (heaviest(over[number]).find(([one]) => shown(one)) ?? heaviest(over[number])[0])?.[0];
const steps = {
  ArrowLeft: (number) => along(number, -1),
  ArrowRight: (number) => along(number, 1),
  ArrowUp: above,
  ArrowDown: (number) => heaviest(nodes[number].over)[0]?.[0],
};
function press(event) {
  const number = touched(event);
  if (number === null) return false;
  if (steps[event.key]) {
    const next = steps[event.key](number);
    if (next !== undefined) focus(next);
  } else if (event.key === "Enter" || event.key === " ") {
    if (pin === number) clear(); else choose(number);
  } else return false;
  return true;
}
steer({ zoom, move, fit, hide, turn, press });
window.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  clear();
  hide();
});
stage.addEventListener("focusin", (event) => {
  const number = touched(event);
  if (number === null || !event.target.matches(":focus-visible")) return;
  rest(number);
  reveal(event.target);
  requestAnimationFrame(() => requestAnimationFrame(() => hint(number)));
  if (pin === null) retrace(number);
});
stage.addEventListener("focusout", hide);
stage.addEventListener("pointerover", (event) => {
  const number = touched(event);
  if (number === null || fingers.size) return hide();
  hint(number);
  if (pin === null) retrace(number);
});
stage.addEventListener("pointerleave", hide);
stage.addEventListener("click", (event) => {
  if (dragged || event.target.closest("button")) return;
  const number = touched(event);
  if (number === null || number === pin) clear(); else choose(number);
});

// The texts searched, as one types: what has the words is lit, and listed.
const LISTED = 50, AROUND = 60;
let matches = [], last = -1;
function search() {
  const words = get("words").value.trim();
  const parts = words.split(/\s+/).map((one) => one.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&"));
  // Between two words may be the end of a line.
  const sought = new RegExp(parts.join("\\s+"), "iu");
  matches = words ? nodes.flatMap((node, number) => (sought.test(node.text) ? [number] : [])) : [];
  last = -1;
  for (const one of svg.querySelectorAll(".match")) one.classList.remove("match");
  for (const number of matches) elements[number].classList.add("match");
  svg.classList.toggle("searched", matches.length > 0);
  get("searched").hidden = !words;
  const more = matches.length > LISTED ? `, the first ${LISTED} are listed` : "";
  get("count").textContent = matches.length === 1 ? "1 passage" : `${matches.length || "No"} passages${more}`;
  const items = get("matches");
  items.replaceChildren();
  for (const number of matches.slice(0, LISTED)) {
    const { what, where, text } = nodes[number];
    const item = listed(items, number);
    const [found] = sought.exec(text), place = text.search(sought), end = place + found.length;
    put(item, "span", "what", what);
    if (where) put(item, "div", "where", where);
    const short = put(item, "span", "short", (place > AROUND ? "…" : "") + text.slice(Math.max(place - AROUND, 0), place));
    put(short, "mark", "", text.slice(place, end));
    short.append(text.slice(end, end + 2 * AROUND));
  }
}
get("words").addEventListener("input", search);
get("words").addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    get("words").value = "";
    search();
  } else if (event.key === "Enter" && matches.length) {
    last = (last + (event.shiftKey ? -1 : 1) + matches.length) % matches.length;
    go(matches[last]);
  }
});
window.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input")) return;
  get("words").focus();
  event.preventDefault();
});

// What a question found.
if (graph.question) {
  get("asked").hidden = false;
  get("question").textContent = graph.question;
  get("how").textContent = graph.hits.length ? `${graph.hits.length} passages, mode ${graph.mode}` : "Nothing was found.";
  graph.hits.forEach(([number, score], place) => {
    const item = listed(get("hits"), number);
    put(item, "span", "rank", place + 1);
    put(item, "span", "what", nodes[number].what);
    put(item, "span", "where", ` · score ${score.toFixed(3)}`);
    if (nodes[number].where) put(item, "div", "where", nodes[number].where);
    put(item, "span", "short", nodes[number].text);
  });
}
fit();
