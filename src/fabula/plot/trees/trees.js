// The picture in its stage: stretched along the text, its names and headings and the text's line kept
// in sight. page.html puts all scripts in one.

// graph: question, mode, hits [[node, score]...], nodes [{kind, what, where, text, band, level,
// over: [[member, weight]...]}], whose elements are #n and the place in the list, bands [{name, floors,
// levels: [{number, count, middle}...]}] from the top level down, whose elements are #b and the place;
// a floor is where a band's strip of chunks lies while so many of its levels are open; parts [[title, x,
// width]...], and across: where the line of chunks begins, and its length, in the picture's units. Of a
// band that it is in none, a node says -1; of what is no membership, a weight is null.
const svg = document.querySelector("svg.picture");
const view = get("view"), book = get("book"), tip = get("tip");
const nodes = graph.nodes;
const elements = nodes.map((_, number) => get("n" + number));
const bands = graph.bands.map((band, number) => ({ ...band, element: get("b" + number), open: 0, y: 0 }));
const over = nodes.map(() => []);
nodes.forEach((node, number) => node.over.forEach(([member, weight]) => over[member].push([number, weight])));
const rank = new Map(graph.hits.map(([number], place) => [number, place + 1]));
document.documentElement.classList.add("scripted");
for (const name of ["viewBox", "width", "height"]) svg.removeAttribute(name);

// Bands: a name and a button a level beside each; its levels are open from the top down to some one.
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
    const place = (level) => band.levels.findIndex((one) => one.number === +level);
    for (const tier of element.querySelectorAll(".tier")) {
      tier.style.display = place(tier.dataset.level) < band.open ? "" : "none";
    }
    // What leads to chunks is drawn for the one pointed at: all at once they hide each other.
    for (const lines of element.querySelectorAll(".lines")) {
      const to = +lines.dataset.to;
      lines.style.display = to && place(to) < band.open ? "" : "none";
    }
    band.title.setAttribute("aria-expanded", String(band.open > 0));
    band.buttons.forEach((one, number) => {
      const level = band.levels[number], open = number < band.open;
      one.textContent = open ? `▾ level ${level.number}` : `▸ level ${level.number} (${level.count})`;
      one.title = open ? "Close this level and those under it" : "Open this level";
      one.setAttribute("aria-expanded", String(open));
    });
  }
  show();
}
function fold() {
  // The top of each, then as many levels as the window has room for: a long book begins with its tops.
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

// The view: how far the text is stretched, and where it stands in the stage.
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
    band.buttons.forEach((one, number) => {
      const open = number < band.open;
      const middle = open ? band.levels[number].middle : floor(band) + STRIP / 2;
      const place = Math.max(middle - LINE / 2, LINE - 2);
      one.style.top = place + "px";
      one.hidden = !band.open || number > band.open || place < name + LINE - 4;
    });
  }
  drawHeadings();
}
// Headings stand where their sections begin, as many as there is room for; the first one waits.
const parts = graph.parts.filter(([title]) => title).map(([title, x, wide]) => {
  const heading = button(get("headings"), "heading", title, () => {
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
  for (const [number, part] of parts.entries()) {
    const end = left(part.x + part.wide);
    const begins = left(part.x), x = Math.max(begins, gutter() + 2);
    const leaves = begins < gutter() - 1 && end < gutter() + HEADING;
    const next = parts[number + 1];
    const yields = next && left(next.x) < x + HEADING && next.wide > 2 * part.wide;  // a preface to what it precedes
    part.heading.hidden = leaves || yields || x > edge - 60 || (last !== null && x < last.x + HEADING);
    if (part.heading.hidden) continue;
    part.heading.style.left = x + "px";
    part.heading.style.maxWidth = edge - x - 4 + "px";
    if (last) last.heading.style.maxWidth = x - last.x - 6 + "px";
    last = { heading: part.heading, x };
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
// Over the names the wheel goes from band to band, with Shift along the text.
function turn(event, step) {
  if (event.target.closest("#names")) move(0, -event.deltaY * step);
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(-(event.deltaX || event.deltaY) * step, 0);
  else return false;
  return true;
}
new ResizeObserver(show).observe(stage);
