// The page of a story: events in the rows of who and where, the links of passages, and the table.

// The data of the page, `graph`:
//   question, mode
//   hits      numbers of the chunks that the question found, best first
//   sizes     height of the headings, and of a row
//   sections  [[title, number of its first chunk, name]...]; the name is the title without what the one before has
//   chunks    how many there are
//   texts     their texts, '' where no event or link needs it
//   rows      [[kind, name, count]...] from the top down
//   lanes     [[kind, name]...]
//   events    [{at, chunk, lanes, slots {slot: text}, what}...] in the order told; at is a share of the
//             text's length; the element of an event is #e and its position
//   links     [[chunks, kind, sense, connective, cause]...]; cause is a chunk, or -1; the element of a link
//             is #t and its position
const view = get("view"), names = get("names");
const SVG = "http://www.w3.org/2000/svg";
const [HEAD, ROW] = graph.sizes;
const events = graph.events.map((event, number) => ({ ...event, number, element: get("e" + number) }));
const links = graph.links.map(([chunks, kind, sense, connective, cause], number) => {
  const element = get("t" + number);
  return { chunks, kind, sense, connective, cause, number, element, line: element.querySelector("line"), sign: element.querySelector(".sign") };
});
const hits = new Set(graph.hits);
const sections = graph.sections.map(([title, start, name], number) => {
  const end = number + 1 < graph.sections.length ? graph.sections[number + 1][1] : graph.chunks;
  return { title: title || "(no heading)", name: name || "(no heading)", from: start / graph.chunks, to: end / graph.chunks, number };
});
const section = (chunk) => sections.findLast((entry) => entry.from * graph.chunks <= chunk + 1e-6);
const row = (kind) => graph.rows.findIndex(([entry]) => entry === kind);
const lanes = graph.lanes.map(([kind, name]) => graph.rows.findIndex((entry) => entry[0] === kind && entry[1] === name));
const isIn = (event, place) => {
  const [kind] = graph.rows[place];
  if (kind === "what") return true;
  return kind in event.slots && !["who", "where"].includes(kind) ? true : event.lanes.some((lane) => lanes[lane] === place);
};

// The view: how far the text is stretched, and its position in the stage.
const EDGE = 14, HALF = 8;
const gutter = () => names.offsetWidth;
const width = () => Math.max(stage.clientWidth - gutter() - EDGE, 1);
const content = ROW * graph.rows.length;
const room = () => stage.clientHeight - HEAD - 4;
const furthest = () => Math.max(1, (graph.chunks * 260) / width());
let at = { x: 0, y: 0, zoom: 1 }, due = false;
const left = (share) => gutter() + HALF + at.x + share * (width() - 2 * HALF) * at.zoom;
function place() {
  at.x = Math.min(0, Math.max(at.x, width() * (1 - at.zoom)));
  at.y = Math.min(0, Math.max(at.y, room() - content));
  if (due) return;
  due = true;
  requestAnimationFrame(draw);
}
const seams = [...svg.querySelectorAll(".seams")];
const starts = sections.filter((entry) => entry.from > 0);
const bands = graph.rows.map((_, number) => {
  const band = document.createElementNS(SVG, "rect");
  band.setAttribute("class", number % 2 ? "band even" : "band odd");
  band.setAttribute("y", ROW * number);
  band.setAttribute("height", ROW);
  view.prepend(band);
  return band;
});
const rows = graph.rows.map(([kind, name, count], number) => {
  const item = button(names, number % 2 ? "even" : "", name, () => showOnly(only === number ? -1 : number));
  item.title = `${name}: ${count.toLocaleString("en")}. ${number < row("cause") || row("cause") < 0 ? "Click to show only these events." : ""}`;
  item.style.height = ROW + "px";
  item.style.lineHeight = ROW + "px";
  return item;
});
const captions = document.createElementNS(SVG, "g");
view.append(captions);
function draw() {
  due = false;
  const edge = stage.clientWidth;
  view.setAttribute("transform", `translate(0 ${HEAD + at.y})`);
  names.style.transform = `translateY(${at.y}px)`;
  for (const band of bands) {
    band.setAttribute("x", gutter());
    band.setAttribute("width", Math.max(edge - gutter(), 0));
  }
  seams.forEach((seam, number) => seam.setAttribute("d", `M${left(starts[number].from)} 0V${content}`));
  for (const event of events) {
    event.x = left(event.at);
    event.element.setAttribute("transform", `translate(${event.x} 0)`);
  }
  for (const { chunks, line, sign } of links) {
    const [x, to] = chunks.map((chunk) => left((chunk + 0.5) / graph.chunks));
    line.setAttribute("x1", x);
    line.setAttribute("x2", to);
    sign.setAttribute("transform", `translate(${(x + to) / 2} ${line.getAttribute("y1")})`);
  }
  drawCaptions(edge);
  drawHeadings(edge);
}
// As many captions as there is room for, that of the pinned event first.
function drawCaptions(edge) {
  captions.replaceChildren();
  for (const kind of ["when", "what"]) {
    const place = row(kind);
    if (place < 0) continue;
    const taken = [];
    const visible = events.filter((event) => event.shown && event.x >= gutter() && event.x < edge);
    visible.sort((a, b) => (b === pin) - (a === pin) || a.number - b.number);
    for (const event of visible) {
      const text = kind === "when" ? event.slots.when || "" : event.what;
      const short = text.length > 60 ? text.slice(0, 59) + "…" : text;
      const box = [event.x, event.x + short.length * 6.4 + 8];
      if (!text || (box[1] > edge && event !== pin) || taken.some(([start, end]) => box[0] < end && start < box[1])) continue;
      taken.push(box);
      const element = document.createElementNS(SVG, "text");
      element.setAttribute("class", "caption");
      element.setAttribute("x", event.x);
      element.setAttribute("y", ROW * (place + 0.5) + 4);
      element.textContent = short;
      captions.append(element);
    }
  }
}
const headings = sections.map((entry) => {
  const heading = button(get("headings"), "heading", entry.name, () => {
    at.zoom = Math.min(0.95 / Math.max(entry.to - entry.from, 1e-6), furthest());
    at.x = -entry.from * (width() - 2 * HALF) * at.zoom;
    place();
  });
  heading.title = entry.title;
  return heading;
});
function drawHeadings(edge) {
  let free = gutter();
  headings.forEach((heading, number) => {
    const start = Math.max(left(sections[number].from), free), end = Math.min(left(sections[number].to), edge);
    heading.hidden = end - start < 26;
    if (heading.hidden) return;
    heading.style.left = start + 2 + "px";
    heading.style.width = end - start - 8 + "px";
    free = end;
  });
}
function fit() {
  at = { x: 0, y: 0, zoom: 1 };
  place();
}
function zoom(by, x = gutter() + width() / 2) {
  const was = at.zoom;
  at.zoom = Math.min(Math.max(was * by, 1), furthest());
  x -= gutter() + HALF;
  at.x = x - ((x - at.x) * at.zoom) / was;
  place();
}
function move(x, y) {
  at.x += x;
  at.y += y;
  place();
}
function turn(event, step) {
  if (event.target.closest?.("#names")) move(0, -event.deltaY * step);
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(-(event.deltaX || event.deltaY) * step, 0);
  else return false;
  return true;
}
const NEXT = { ArrowLeft: -1, ArrowRight: 1 };
function press(event) {
  if (pin === null || !NEXT[event.key]) return false;
  const there = events.filter((entry) => entry.shown);
  const next = there[there.indexOf(pin) + NEXT[event.key]];
  if (next) select(next);
  return true;
}
function reveal(event) {
  const x = left(event.at);
  if (x < gutter() + 20 || x > stage.clientWidth - 40) move(gutter() + width() / 2 - x, 0);
}
new ResizeObserver(place).observe(stage);

// Which events are shown: all, or those of one row; and the pinned event with its causes.
let pin = null, only = -1, words = "";
function showOnly(place) {
  only = place;
  rows.forEach((item, number) => item.setAttribute("aria-pressed", String(number === only)));
  choose();
}
const searchable = events.map((event) => foldText(Object.values(event.slots).join("\n")));
const isOfLinks = (place) => ["cause", "time", "contrast", "more"].includes(graph.rows[place]?.[0]);
function choose() {
  const query = foldText(words.trim());
  const kind = only >= 0 && isOfLinks(only) ? graph.rows[only][0] : "";
  const linked = new Set(links.filter((link) => link.kind === kind).flatMap((link) => link.chunks));
  for (const event of events) {
    event.shown = only < 0 || (kind ? linked.has(event.chunk) : isIn(event, only)) || event === pin;
    event.element.classList.toggle("off", !event.shown);
    event.match = Boolean(query) && searchable[event.number].includes(query);
    event.element.classList.toggle("match", event.match);
  }
  for (const link of links) link.element.classList.toggle("off", Boolean(kind) && link.kind !== kind);
  list(query);
  place();
}
// The chunks that lead to a chunk by causes (back), or those that it leads to, step by step.
function chain(chunk, back) {
  const reached = new Set([chunk]), steps = [];
  for (const from of reached) {
    for (const link of links) {
      if (link.cause < 0) continue;
      const effect = link.chunks.find((place) => place !== link.cause) ?? link.cause;
      const [near, far] = back ? [effect, link.cause] : [link.cause, effect];
      if (near !== from || reached.has(far)) continue;
      reached.add(far);
      steps.push([far, link]);
    }
  }
  return steps;
}
function light(event) {
  for (const element of svg.querySelectorAll(".lit, .pin")) element.classList.remove("lit", "pin");
  svg.classList.toggle("faded", event !== null);
  if (event === null) return;
  const steps = [...chain(event.chunk, true), ...chain(event.chunk, false)];
  const chunks = new Set(steps.map(([chunk]) => chunk));
  for (const [, link] of steps) link.element.classList.add("lit");
  for (const other of events) if (chunks.has(other.chunk)) other.element.classList.add("lit");
  event.element.classList.add("lit", "pin");
}
function select(event) {
  pin = event;
  get("pinned").hidden = event === null;
  if (event) showCard(event);
  choose();
  light(event);
  if (!event) return;
  get("pinned").scrollTop = 0;
  document.querySelector("tr.pin")?.scrollIntoView({ block: "nearest" });
  reveal(event);
}
get("unpin").addEventListener("click", () => select(null));
const ORDER = ["who", "predicate", "what", "when", "where", "why", "how"];
function slots(parent, event) {
  const items = put(parent, "dl", "slots", "");
  for (const slot of ORDER.filter((slot) => slot in event.slots)) {
    put(items, "dt", "", slot === "predicate" ? "does" : slot);
    put(items, "dd", "", event.slots[slot]);
  }
}
function showCard(event) {
  const card = get("card");
  card.replaceChildren();
  const heading = [event.slots.who, event.what].filter(Boolean).join(" ");
  put(card, "h2", "", heading || Object.values(event.slots)[0] || "");
  put(card, "div", "where", `event ${event.number + 1} of ${events.length} · ${section(event.chunk).title}`);
  slots(card, event);
  for (const [back, title] of [[true, "What led to it"], [false, "What it led to"]]) {
    const steps = chain(event.chunk, back);
    if (!steps.length) continue;
    put(card, "h3", "", title);
    const items = put(card, "ul", "", "");
    for (const [chunk, link] of steps) {
      const first = events.find((other) => other.chunk === chunk);
      const item = button(put(items, "li", "", ""), "", "", () => first && select(first));
      const connective = link.connective ? `“${link.connective}” · ` : "";
      put(item, "span", "where", connective + link.sense);
      put(item, "span", "short", graph.texts[chunk]);
    }
  }
  put(card, "h3", "", "Where it is told");
  put(card, "div", "said passage", graph.texts[event.chunk].trim());
}

// What the pointer is on: an event, or a link of two passages.
const touched = (event) => {
  const element = event.target.closest?.(".event, .link");
  return element ? (element.matches(".event") ? events : links)[+element.id.slice(1)] : null;
};
function hide() {
  tip.hidden = true;
}
function hint(item) {
  tip.replaceChildren();
  if ("slots" in item) {
    slots(tip, item);
    put(tip, "div", "where", section(item.chunk).title);
  } else {
    put(tip, "div", "what", item.sense + (item.connective ? ` · “${item.connective}”` : ""));
    for (const chunk of item.chunks) {
      put(tip, "div", "where", chunk === item.cause ? "the cause" : item.cause >= 0 ? "its effect" : "");
      put(tip, "div", "short", graph.texts[chunk]);
    }
  }
  tip.hidden = false;
}
stage.addEventListener("pointermove", (event) => {
  const item = fingers.size ? null : touched(event);
  if (!item) return hide();
  if (tip.hidden || hint.of !== item) {
    hint.of = item;
    hint(item);
  }
  placeTip(event);
});
stage.addEventListener("pointerleave", hide);
stage.addEventListener("click", (event) => {
  if (dragged || event.target.closest("button")) return;
  const item = touched(event);
  hide();
  if (item && !("slots" in item)) return select(events.find((other) => item.chunks.includes(other.chunk)) ?? null);
  select(item === pin ? null : item);
});

// The table: the events that are shown, by section, or those that match the search.
let listed = [];
function list(query) {
  listed = events.filter((event) => (query ? event.match : event.shown));
  const lines = [];
  let now = null;
  for (const event of listed) {
    if (section(event.chunk) !== now) {
      now = section(event.chunk);
      const line = document.createElement("tr");
      const title = put(line, "th", "", now.title);
      title.colSpan = 4;
      title.scope = "rowgroup";
      title.title = now.title;
      lines.push(line);
    }
    const line = document.createElement("tr");
    line.classList.toggle("pin", event === pin);
    line.classList.toggle("found", hits.has(event.chunk));
    for (const text of [event.slots.when, event.slots.who]) put(line, "td", "", text || "").title = text || "";
    const what = button(put(line, "td", "", ""), "", event.what, () => select(pin === event ? null : event));
    // Rules do not say what is done, so the passage is shown.
    if (!event.slots.what) put(what, "span", "soft", ` ${graph.texts[event.chunk].trim().slice(0, 80)}`);
    what.title = event.slots.what ? event.what : graph.texts[event.chunk].trim();
    what.setAttribute("aria-pressed", String(event === pin));
    put(line, "td", "", event.slots.where || "").title = event.slots.where || "";
    lines.push(line);
  }
  document.querySelector("tbody").replaceChildren(...lines);
  const row = only >= 0 ? ` · ${graph.rows[only][1]}` : "";
  get("count").textContent = `${listed.length ? listed.length.toLocaleString("en") : "No"} event${listed.length === 1 ? "" : "s"}${query ? " found" : ""}${row}`;
}
get("words").addEventListener("input", () => {
  words = get("words").value;
  choose();
});
get("words").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && listed.length) select(listed[0]);
  if (event.key !== "Escape") return;
  get("words").value = words = "";
  choose();
});
window.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input");
  if (event.key === "Escape" && !typing) {
    if (pin !== null) select(null); else showOnly(-1);
    hide();
  } else if (event.key === "/" && !typing) {
    get("words").focus();
    event.preventDefault();
  }
});
steer({ zoom, move, fit, hide, turn, press });

// What the question found.
if (graph.question) {
  get("asked").hidden = false;
  get("question").textContent = graph.question;
  const there = events.filter((event) => hits.has(event.chunk)).length;
  get("how").textContent = `Mode ${graph.mode} found ${hits.size} of these passages; ${there} events are in them, marked with ★ and a ring.`;
}
rows.forEach((item, number) => (item.style.top = ROW * number + "px"));
choose();
