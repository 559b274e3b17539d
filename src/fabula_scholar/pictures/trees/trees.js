// The page of the summary trees: the picture in its stage, and its passages, which are read, pinned,
// gone through by keys and searched.

// The data of the page, `graph`:
//   question, mode
//   hits      [[node, score]...], best first
//   nodes     [{kind, what, where, text, band, level, over: [[member, weight]...]}...]; the element of
//             a node is #n and its position in the list; band is -1 for chunks and details; weight is
//             null for a detail of a chunk
//   bands     [{name, floors, levels: [{number, count, middle}...]}...], levels from the top down; the
//             element of a band is #b and its position; floors[n] is the y of the strip of chunks while
//             n levels are open
//   sections  [[title, x, width, name]...]; the name is the title without what the one before has
//   across    x and length of the line of chunks, in the picture's units
const view = get("view"), book = get("book");
const nodes = graph.nodes;
const elements = nodes.map((_, number) => get("n" + number));
const bands = graph.bands.map((band, number) => ({ ...band, element: get("b" + number), open: 0, y: 0 }));
const over = nodes.map(() => []);
nodes.forEach((node, number) => node.over.forEach(([member, weight]) => over[member].push([number, weight])));
const rank = new Map(graph.hits.map(([number], place) => [number, place + 1]));

// Bands: beside each are its name and a button for each level. Levels are open from the top down.
const STRIP = 8, BETWEEN = 14, LINE = 18;
const floor = (band) => band.floors[band.open];
const whole = (band) => band.floors.at(-1);
const index = (node) => bands[node.band].levels.findIndex((level) => level.number === node.level);
const shown = (number) => nodes[number].band < 0 || index(nodes[number]) < bands[nodes[number].band].open;
bands.forEach((band, number) => {
  band.labels = put(get("names"), "div", `hue${number % 7}`, "");
  band.title = button(band.labels, "name", band.name, () => openTo(band, band.open ? 0 : band.first));
  band.title.title = band.name;
  band.buttons = band.levels.map((_, place) =>
    button(band.labels, "level", "", () => openTo(band, place < band.open ? place : place + 1)));
});
function openTo(band, count) {
  band.open = count;
  const under = bands.indexOf(band);
  if (nodes[stop].band === under && !shown(stop)) rest(0);
  stack();
  retrace();
}
function unfold(number) {
  if (!shown(number)) openTo(bands[nodes[number].band], index(nodes[number]) + 1);
}
let content = 0;
function stack() {
  content = 0;
  for (const band of bands) {
    band.y = content;
    const height = floor(band) + STRIP;
    content += height + BETWEEN;
    const { element } = band;
    element.setAttribute("transform", `translate(0 ${band.y})`);
    element.querySelector(".ground").setAttribute("height", height + 4);
    element.querySelector(".rules").setAttribute("transform", `scale(1 ${height / (whole(band) + STRIP)})`);
    element.querySelector(".foot").setAttribute("transform", `translate(0 ${floor(band) - whole(band)})`);
    const place = (level) => band.levels.findIndex((entry) => entry.number === +level);
    for (const tier of element.querySelectorAll(".tier")) {
      tier.style.display = place(tier.dataset.level) < band.open ? "" : "none";
    }
    // Lines to chunks are drawn only for the summary pointed at: all at once would hide each other.
    for (const lines of element.querySelectorAll(".lines")) {
      const to = +lines.dataset.to;
      lines.style.display = to && place(to) < band.open ? "" : "none";
    }
    band.title.setAttribute("aria-expanded", String(band.open > 0));
    band.buttons.forEach((toggle, number) => {
      const level = band.levels[number], open = number < band.open;
      toggle.textContent = open ? `▾ level ${level.number}` : `▸ level ${level.number} (${level.count})`;
      toggle.title = open ? "Close this level and those under it" : "Open this level";
      toggle.setAttribute("aria-expanded", String(open));
    });
  }
  show();
}
function fold() {
  // Open the top level of each band, then as many more as the window has room for.
  for (const band of bands) band.open = Math.min(1, band.levels.length);
  let spare = room() - bands.reduce((sum, band) => sum + floor(band) + STRIP + BETWEEN, 0);
  const deepest = Math.max(...bands.map((band) => band.levels.length));
  for (let open = 2; open <= deepest; open += 1) {
    for (const band of bands) {
      const needed = band.floors[open] - floor(band);
      if (band.open !== open - 1 || !(needed <= spare)) continue;
      band.open = open;
      spare -= needed;
    }
  }
  for (const band of bands) band.first = band.open;
  stack();
}

// The view: how far the text is stretched, and its position in the stage.
const [FROM, LENGTH] = graph.across;
const EDGE = 14, DESK = 10;
const chunks = nodes.filter((node) => node.kind === "chunk").length;
const gutter = () => get("names").offsetWidth, head = () => get("headings").offsetHeight;
const width = () => Math.max(stage.clientWidth - gutter() - EDGE, 1);
const bookHeight = +book.dataset.height + 4;
const room = () => stage.clientHeight - head() - bookHeight - DESK;
let at = { x: 0, y: 0, zoom: 1 }, due = false;
const across = () => (width() / LENGTH) * at.zoom;
const left = (x) => gutter() + at.x + (x - FROM) * across();
function show() {
  at.x = Math.min(0, Math.max(at.x, width() * (1 - at.zoom)));
  at.y = Math.min(0, Math.max(at.y, room() - content));
  if (due) return;
  due = true;
  requestAnimationFrame(draw);
}
function draw() {
  due = false;
  const x = left(0), wide = across(), top = head();
  view.setAttribute("transform", `translate(${x} ${top + at.y}) scale(${wide} 1)`);
  const foot = top + DESK + Math.min(content, room());
  book.setAttribute("transform", `translate(${x} ${foot}) scale(${wide} 1)`);
  // Marks and ranks keep their shape however far the text is stretched.
  svg.style.setProperty("--thin", 1 / wide);
  get("line").style.top = foot - DESK + "px";
  get("names").style.height = foot - DESK - top + "px";
  get("names").style.top = top + "px";
  for (const band of bands) {
    const y = at.y + band.y, end = y + floor(band) + STRIP;
    const name = Math.min(Math.max(-y, 0), end - y - LINE);
    band.labels.style.top = y + "px";
    band.labels.style.height = end - y + "px";
    band.title.style.top = name + "px";
    band.buttons.forEach((toggle, number) => {
      const open = number < band.open;
      const middle = open ? band.levels[number].middle : floor(band) + STRIP / 2;
      const place = Math.max(middle - LINE / 2, LINE - 2);
      toggle.style.top = place + "px";
      toggle.hidden = !band.open || number > band.open || place < name + LINE - 4;
    });
  }
  drawHeadings();
}
// Headings are where their sections begin, as many as there is room for; the first stays in sight.
const sections = graph.sections.filter(([title]) => title).map(([title, x, wide, name]) => {
  const heading = button(get("headings"), "heading", name, () => {
    at.zoom = Math.min((LENGTH / wide) * 0.9, furthest());
    at.x = -(x - FROM) * across() + width() * 0.03;
    show();
  });
  heading.title = title;
  return { heading, x, wide };
});
const HEADING = 96;
function drawHeadings() {
  const edge = stage.clientWidth;
  let last = null;
  for (const [number, section] of sections.entries()) {
    const end = left(section.x + section.wide);
    const begins = left(section.x), x = Math.max(begins, gutter() + 2);
    const leaves = begins < gutter() - 1 && end < gutter() + HEADING;
    const next = sections[number + 1];
    const yields = next && left(next.x) < x + HEADING && next.wide > 2 * section.wide;  // a short preface gives way to the section after it
    section.heading.hidden = leaves || yields || x > edge - 60 || (last !== null && x < last.x + HEADING);
    if (section.heading.hidden) continue;
    section.heading.style.left = x + "px";
    section.heading.style.maxWidth = edge - x - 4 + "px";
    if (last) last.heading.style.maxWidth = x - last.x - 6 + "px";
    last = { heading: section.heading, x };
  }
}
function fit() {
  at = { x: 0, y: 0, zoom: 1 };
  fold();
}
const furthest = () => Math.max(4, (60 * chunks) / width());
function zoom(by, x = gutter() + width() / 2) {
  const was = across();
  at.zoom = Math.min(Math.max(at.zoom * by, 1), furthest());
  x -= gutter();
  at.x = x - ((x - at.x) * across()) / was;
  show();
}
function move(x, y) { at.x += x; at.y += y; show(); }
function reveal(element) {
  const box = element.getBoundingClientRect(), frame = stage.getBoundingClientRect();
  const x = (box.left + box.right) / 2 - frame.left, y = (box.top + box.bottom) / 2 - frame.top;
  const [start, top, foot] = [gutter() + 20, head() + 20, head() + room() - 10];
  const beside = x < start || x > frame.width - 20 ? gutter() + width() / 2 - x : 0;
  const inBook = book.contains(element);
  const above = !inBook && (y < top || y > foot) ? (top + foot) / 2 - y : 0;
  if (beside || above) move(beside, above);
}
// Over the names the wheel moves from band to band, with Shift along the text.
function turn(event, step) {
  if (event.target.closest("#names")) move(0, -event.deltaY * step);
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(-(event.deltaX || event.deltaY) * step, 0);
  else return false;
  return true;
}
new ResizeObserver(show).observe(stage);

// The card of a passage.
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
const heaviest = (edges) => [...edges].sort(([, a], [, b]) => b - a);
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
  // Opposite a summary, as its members are under it; beside any other passage.
  const isLeft = middle > (frame.left + frame.right) / 2;
  const beside = isLeft ? frame.left + gutter() + 8 : frame.right - size.width - 8;
  const below = box.bottom + 12 + size.height < innerHeight;
  const isSummary = nodes[number].kind === "summary";
  const x = isSummary ? beside : middle - size.width / 2;
  const y = isSummary ? box.top : below ? box.bottom + 12 : box.top - 12 - size.height;
  tip.style.left = Math.min(Math.max(x, 8), innerWidth - size.width - 8) + "px";
  tip.style.top = Math.min(Math.max(y, 8), innerHeight - size.height - 8) + "px";
}

// A pinned passage, with everything above and below it.
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
  for (const element of svg.querySelectorAll(".on, .pin")) element.classList.remove("on", "pin");
  svg.classList.remove("traced");
  if (pin !== null) elements[pin].setAttribute("aria-pressed", "false");
  pin = null;
  get("pinned").hidden = true;
  retrace();
}
// Draw lines from a passage to its members, and from a pinned one to everything above it; on the strip,
// draw the chunks that it reaches, as the levels between may be closed.
function retrace(number = pin) {
  for (const element of svg.querySelectorAll(".trace")) element.replaceChildren();
  if (number === null) return;
  const [, up] = number === pin ? reached(number, (place) => over[place]) : [, []];
  const ties = [...nodes[number].over.map(([low, weight]) => [number, low, weight]),
    ...up.map(([low, high, weight]) => [high, low, weight])];
  for (const [high, low, weight] of ties) {
    if (weight !== null && shown(high) && shown(low)) edge(high, low, weight);
  }
  const { band } = nodes[number];
  if (band < 0 || !shown(number)) return;
  const [below] = reached(number, (place) => nodes[place].over);
  const box = (chunk) => `M${value(chunk, "x")} ${floor(bands[band])}h${value(chunk, "width")}v${STRIP}` +
    `h-${value(chunk, "width")}z`;
  const reach = [...below].filter((place) => nodes[place].kind === "chunk");
  line(bands[band], "reach", reach.map((place) => box(elements[place])).join(""));
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
  const [above] = reached(number, (place) => over[place]);
  const [below] = reached(number, (place) => nodes[place].over);
  for (const place of [number, ...above, ...below]) elements[place].classList.add("on");
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

// All passages are one stop of the Tab key; arrows go from one to the next.
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
  const row = nodes.flatMap((other, place) =>
    other.kind === node.kind && other.band === node.band && other.level === node.level ? [place] : []);
  const across = (place) => elements[place].getBoundingClientRect();
  const middle = (place) => across(place).left + across(place).width / 2;
  if (node.kind === "summary") row.sort((a, b) => middle(a) - middle(b));
  return row[row.indexOf(number) + step];
};
const above = (number) => (heaviest(over[number]).find(([place]) => shown(place)) ?? heaviest(over[number])[0])?.[0];
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

// The search: passages with these words are highlighted and listed.
const LISTED = 50, AROUND = 60;
let matches = [], last = -1, texts = null;
function search() {
  const words = get("words").value.trim();
  texts ??= nodes.map((node) => foldWithPlaces(node.text));
  const parts = foldText(words).split(/\s+/).map((word) => word.replace(/[\\^$.*+?()[\]{}|\/]/g, "\\$&"));
  // A line may end between two words.
  const sought = new RegExp(parts.join("\\s+"), "u");
  matches = words ? nodes.flatMap((_, number) => (sought.test(texts[number].folded) ? [number] : [])) : [];
  last = -1;
  for (const element of svg.querySelectorAll(".match")) element.classList.remove("match");
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
    const { folded, places } = texts[number], found = sought.exec(folded);
    const place = places[found.index], end = places[found.index + found[0].length];
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

// What the question found.
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
