// What happens along the text: events in the rows of who and where, how passages hang together, a table.

// graph: question, mode, found [chunk...], best first, sizes [of the headings, of a row], sections [[title,
// first chunk]...], chunks: how many, texts: theirs, '' where nothing is told, rows [[kind, name, count]...]
// from the top down, lanes [[kind, name]...], events [{at, chunk, lanes, told {slot: words}, what}] in the
// order told, whose elements are #e and the place, ties [[chunks, kind, sense, connective, cause]...], whose
// elements are #t and the place; at is a share of the text's length, cause a chunk, or -1.
const svg = document.querySelector("svg.picture");
const view = get("view"), tip = get("tip"), names = get("names");
document.documentElement.classList.add("scripted");
for (const name of ["viewBox", "width", "height"]) svg.removeAttribute(name);
const SPACE = "http://www.w3.org/2000/svg";
const [HEAD, ROW] = graph.sizes;
const events = graph.events.map((one, number) => ({ ...one, number, element: get("e" + number) }));
const ties = graph.ties.map(([chunks, kind, sense, connective, cause], number) => {
  const element = get("t" + number);
  return { chunks, kind, sense, connective, cause, number, element, line: element.querySelector("line"), sign: element.querySelector(".sign") };
});
const found = new Set(graph.found);
const sections = graph.sections.map(([title, start], number) => {
  const end = number + 1 < graph.sections.length ? graph.sections[number + 1][1] : graph.chunks;
  return { title: title || "(no heading)", from: start / graph.chunks, to: end / graph.chunks, number };
});
const section = (chunk) => sections.findLast((one) => one.from * graph.chunks <= chunk + 1e-6);
const row = (kind) => graph.rows.findIndex(([one]) => one === kind);
const lanes = graph.lanes.map(([kind, name]) => graph.rows.findIndex(([one, called]) => one === kind && called === name));
const isIn = (event, place) => {
  const [kind] = graph.rows[place];
  if (kind === "what") return true;
  return kind in event.told && !["who", "where"].includes(kind) ? true : event.lanes.some((lane) => lanes[lane] === place);
};

// The view: how far the text is stretched, and where it stands in the stage.
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
const starts = sections.filter((one) => one.from > 0);
const bands = graph.rows.map((_, number) => {
  const band = document.createElementNS(SPACE, "rect");
  band.setAttribute("class", number % 2 ? "band even" : "band odd");
  band.setAttribute("y", ROW * number);
  band.setAttribute("height", ROW);
  view.prepend(band);
  return band;
});
const rows = graph.rows.map(([kind, name, count], number) => {
  const one = button(names, number % 2 ? "even" : "", name, () => alone(only === number ? -1 : number));
  one.title = `${name}: ${count.toLocaleString("en")}. ${number < row("cause") || row("cause") < 0 ? "Click to show these events alone." : ""}`;
  one.style.height = ROW + "px";
  one.style.lineHeight = ROW + "px";
  return one;
});
const captions = document.createElementNS(SPACE, "g");
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
  for (const one of events) {
    one.x = left(one.at);
    one.element.setAttribute("transform", `translate(${one.x} 0)`);
  }
  for (const { chunks, line, sign } of ties) {
    const [x, to] = chunks.map((chunk) => left((chunk + 0.5) / graph.chunks));
    line.setAttribute("x1", x);
    line.setAttribute("x2", to);
    sign.setAttribute("transform", `translate(${(x + to) / 2} ${line.getAttribute("y1")})`);
  }
  drawCaptions(edge);
  drawHeadings(edge);
}
// As many captions as there is room for, the chosen one's first.
function drawCaptions(edge) {
  captions.replaceChildren();
  for (const kind of ["when", "what"]) {
    const place = row(kind);
    if (place < 0) continue;
    const taken = [];
    const there = events.filter((one) => one.shown && one.x >= gutter() && one.x < edge);
    there.sort((one, other) => (other === pin) - (one === pin) || one.number - other.number);
    for (const one of there) {
      const said = kind === "when" ? one.told.when || "" : one.what;
      const short = said.length > 60 ? said.slice(0, 59) + "…" : said;
      const box = [one.x, one.x + short.length * 6.4 + 8];
      if (!said || (box[1] > edge && one !== pin) || taken.some(([start, end]) => box[0] < end && start < box[1])) continue;
      taken.push(box);
      const text = document.createElementNS(SPACE, "text");
      text.setAttribute("class", "caption");
      text.setAttribute("x", one.x);
      text.setAttribute("y", ROW * (place + 0.5) + 4);
      text.textContent = short;
      captions.append(text);
    }
  }
}
const headings = sections.map((one) => {
  const heading = button(get("headings"), "heading", one.title, () => {
    at.zoom = Math.min(0.95 / Math.max(one.to - one.from, 1e-6), furthest());
    at.x = -one.from * (width() - 2 * HALF) * at.zoom;
    place();
  });
  heading.title = one.title;
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
  const there = events.filter((one) => one.shown);
  const next = there[there.indexOf(pin) + NEXT[event.key]];
  if (next) select(next);
  return true;
}
function reveal(one) {
  const x = left(one.at);
  if (x < gutter() + 20 || x > stage.clientWidth - 40) move(gutter() + width() / 2 - x, 0);
}
new ResizeObserver(place).observe(stage);

// Which events are shown: all, or those of one row; and what is chosen, with its causes.
let pin = null, only = -1, words = "";
function alone(place) {
  only = place;
  rows.forEach((one, number) => one.setAttribute("aria-pressed", String(number === only)));
  choose();
}
const said = /\s+/gu;
const normal = (text) => text.normalize("NFC").toLocaleLowerCase().replace(said, " ");
const sought = events.map((one) => normal(Object.values(one.told).join("\n")));
const tying = (place) => ["cause", "time", "contrast", "more"].includes(graph.rows[place]?.[0]);
function choose() {
  const asked = normal(words.trim());
  const kind = only >= 0 && tying(only) ? graph.rows[only][0] : "";
  const tied = new Set(ties.filter((one) => one.kind === kind).flatMap((one) => one.chunks));
  for (const one of events) {
    one.shown = only < 0 || (kind ? tied.has(one.chunk) : isIn(one, only)) || one === pin;
    one.element.classList.toggle("off", !one.shown);
    one.match = Boolean(asked) && sought[one.number].includes(asked);
    one.element.classList.toggle("match", one.match);
  }
  for (const one of ties) one.element.classList.toggle("off", Boolean(kind) && one.kind !== kind);
  list(asked);
  place();
}
// The chunks that lead to one by causes, and those that it leads to, step by step.
function chain(chunk, back) {
  const reached = new Set([chunk]), steps = [];
  for (const from of reached) {
    for (const tie of ties) {
      if (tie.cause < 0) continue;
      const effect = tie.chunks.find((one) => one !== tie.cause) ?? tie.cause;
      const [near, far] = back ? [effect, tie.cause] : [tie.cause, effect];
      if (near !== from || reached.has(far)) continue;
      reached.add(far);
      steps.push([far, tie]);
    }
  }
  return steps;
}
function light(one) {
  for (const element of svg.querySelectorAll(".lit, .pin")) element.classList.remove("lit", "pin");
  svg.classList.toggle("faded", one !== null);
  if (one === null) return;
  const steps = [...chain(one.chunk, true), ...chain(one.chunk, false)];
  const chunks = new Set(steps.map(([chunk]) => chunk));
  for (const [, tie] of steps) tie.element.classList.add("lit");
  for (const other of events) if (chunks.has(other.chunk)) other.element.classList.add("lit");
  one.element.classList.add("lit", "pin");
}
function select(one) {
  pin = one;
  get("pinned").hidden = one === null;
  if (one) tell(one);
  choose();
  light(one);
  if (!one) return;
  get("pinned").scrollTop = 0;
  document.querySelector("tr.pin")?.scrollIntoView({ block: "nearest" });
  reveal(one);
}
get("unpin").addEventListener("click", () => select(null));
const ORDER = ["who", "predicate", "what", "when", "where", "why", "how"];
function slots(parent, one) {
  const items = put(parent, "dl", "slots", "");
  for (const slot of ORDER.filter((slot) => slot in one.told)) {
    put(items, "dt", "", slot === "predicate" ? "does" : slot);
    put(items, "dd", "", one.told[slot]);
  }
}
function tell(one) {
  const card = get("card");
  card.replaceChildren();
  const told = [one.told.who, one.what].filter(Boolean).join(" ");
  put(card, "h2", "", told || Object.values(one.told)[0] || "");
  put(card, "div", "where", `event ${one.number + 1} of ${events.length} · ${section(one.chunk).title}`);
  slots(card, one);
  for (const [back, title] of [[true, "What led here"], [false, "What came of it"]]) {
    const steps = chain(one.chunk, back);
    if (!steps.length) continue;
    put(card, "h3", "", title);
    const items = put(card, "ul", "", "");
    for (const [chunk, tie] of steps) {
      const first = events.find((other) => other.chunk === chunk);
      const item = button(put(items, "li", "", ""), "", "", () => first && select(first));
      const connective = tie.connective ? `“${tie.connective}” · ` : "";
      put(item, "span", "where", connective + tie.sense);
      put(item, "span", "short", graph.texts[chunk]);
    }
  }
  put(card, "h3", "", "Where it is told");
  put(card, "div", "said passage", graph.texts[one.chunk].trim());
}

// What the pointer is on: an event, or how two passages hang together.
const touched = (event) => {
  const element = event.target.closest?.(".event, .link");
  return element ? (element.matches(".event") ? events : ties)[+element.id.slice(1)] : null;
};
function hide() {
  tip.hidden = true;
}
function hint(one) {
  tip.replaceChildren();
  if ("told" in one) {
    slots(tip, one);
    put(tip, "div", "where", section(one.chunk).title);
  } else {
    put(tip, "div", "what", one.sense + (one.connective ? ` · “${one.connective}”` : ""));
    for (const chunk of one.chunks) {
      put(tip, "div", "where", chunk === one.cause ? "the cause" : one.cause >= 0 ? "what comes of it" : "");
      put(tip, "div", "short", graph.texts[chunk]);
    }
  }
  tip.hidden = false;
}
stage.addEventListener("pointermove", (event) => {
  const one = fingers.size ? null : touched(event);
  if (!one) return hide();
  if (tip.hidden || hint.of !== one) {
    hint.of = one;
    hint(one);
  }
  const size = tip.getBoundingClientRect();
  const below = event.clientY + 18 + size.height < innerHeight;
  tip.style.left = Math.min(Math.max(event.clientX - size.width / 2, 8), innerWidth - size.width - 8) + "px";
  tip.style.top = Math.max(below ? event.clientY + 18 : event.clientY - 12 - size.height, 8) + "px";
});
stage.addEventListener("pointerleave", hide);
stage.addEventListener("click", (event) => {
  if (dragged || event.target.closest("button")) return;
  const one = touched(event);
  hide();
  if (one && !("told" in one)) return select(events.find((other) => one.chunks.includes(other.chunk)) ?? null);
  select(one === pin ? null : one);
});

// The table: what happens, section by section, or where the words are.
let listed = [];
function list(asked) {
  listed = events.filter((one) => (asked ? one.match : one.shown));
  const lines = [];
  let now = null;
  for (const one of listed) {
    if (section(one.chunk) !== now) {
      now = section(one.chunk);
      const line = document.createElement("tr");
      const title = put(line, "th", "", now.title);
      title.colSpan = 4;
      title.scope = "rowgroup";
      title.title = now.title;
      lines.push(line);
    }
    const line = document.createElement("tr");
    line.classList.toggle("pin", one === pin);
    line.classList.toggle("found", found.has(one.chunk));
    for (const said of [one.told.when, one.told.who]) put(line, "td", "", said || "").title = said || "";
    const what = button(put(line, "td", "", ""), "", one.what, () => select(pin === one ? null : one));
    // Rules don't tell what is done: the passage says it.
    if (!one.told.what) put(what, "span", "soft", ` ${graph.texts[one.chunk].trim().slice(0, 80)}`);
    what.title = one.told.what ? one.what : graph.texts[one.chunk].trim();
    what.setAttribute("aria-pressed", String(one === pin));
    put(line, "td", "", one.told.where || "").title = one.told.where || "";
    lines.push(line);
  }
  document.querySelector("tbody").replaceChildren(...lines);
  const of = only >= 0 ? ` · ${graph.rows[only][1]}` : "";
  get("count").textContent = `${listed.length ? listed.length.toLocaleString("en") : "No"} event${listed.length === 1 ? "" : "s"}${asked ? " found" : ""}${of}`;
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
    if (pin !== null) select(null); else alone(-1);
    hide();
  } else if (event.key === "/" && !typing) {
    get("words").focus();
    event.preventDefault();
  }
});
steer({ zoom, move, fit, hide, turn, press });

// What a question found.
if (graph.question) {
  get("asked").hidden = false;
  get("question").textContent = graph.question;
  const there = events.filter((one) => found.has(one.chunk)).length;
  get("how").textContent = `Mode ${graph.mode} found ${found.size} of these passages; ${there} events are in them, marked ★ and ringed.`;
}
rows.forEach((one, number) => (one.style.top = ROW * number + "px"));
choose();
