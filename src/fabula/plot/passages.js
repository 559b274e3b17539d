// The passages of the picture: read, pinned, gone through by keys; bands on and off; what was found.

// What a passage says.
function put(parent, tag, name, text) {
  const element = document.createElement(tag);
  element.className = name;
  element.textContent = text;
  parent.append(element);
  return element;
}
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
function list(where, title, numbers) {
  where.replaceChildren();
  if (!numbers.length) return;
  put(where, "h3", "", title);
  const items = put(where, "ul", "", "");
  for (const [number, weight] of numbers) {
    const button = put(put(items, "li", "", ""), "button", "", "");
    button.type = "button";
    tint(button, nodes[number]);
    put(button, "span", "what", nodes[number].what);
    if (weight !== null) put(button, "span", "where", ` · weight ${weight.toFixed(2)}`);
    put(button, "span", "short", nodes[number].text);
    button.addEventListener("click", () => go(number));
  }
}
const heaviest = (edges) => [...edges].sort((one, other) => other[1] - one[1]);
function hide() { tip.hidden = true; }
function hint(number) {
  tell(tip, number);
  tip.hidden = false;
  const mark = elements[number].querySelector(".mark") || elements[number];
  const box = mark.getBoundingClientRect(), size = tip.getBoundingClientRect();
  const below = box.bottom + 12 + size.height < innerHeight;
  const y = below ? box.bottom + 12 : Math.max(box.top - 12 - size.height, 8);
  const x = Math.min(Math.max((box.left + box.right - size.width) / 2, 8), innerWidth - size.width - 8);
  tip.style.left = x + "px";
  tip.style.top = y + "px";
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
  for (const one of svg.querySelectorAll(".trace")) one.replaceChildren();
  svg.classList.remove("traced");
  if (pin !== null) elements[pin].setAttribute("aria-pressed", "false");
  pin = null;
  get("pinned").hidden = true;
}
function edge(above, below, weight) {
  if (weight === null) return;  // a chunk and its detail: they touch
  const band = bands[nodes[above].band];
  const from = elements[above].querySelector(".mark");
  const to = elements[below].querySelector(".mark") || elements[below];
  const value = (element, name) => +element.getAttribute(name);
  const middle = (element) => value(element, "x") + value(element, "width") / 2;
  const y = value(from, "y") + value(from, "height");
  const toY = nodes[below].band < 0 ? band.strip : value(to, "y");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const bend = (y + toY) / 2, x = middle(from), toX = middle(to);
  path.setAttribute("d", `M${x} ${y}C${x} ${bend} ${toX} ${bend} ${toX} ${toY}`);
  path.setAttribute("stroke-opacity", 0.25 + 0.75 * weight);
  band.element.querySelector(".trace").append(path);
}
function choose(number) {
  clear();
  pin = number;
  const [above, up] = reached(number, (one) => over[one]);
  const [below, down] = reached(number, (one) => nodes[one].over);
  for (const one of [number, ...above, ...below]) elements[one].classList.add("on");
  for (const [low, high, weight] of up) edge(high, low, weight);
  for (const [high, low, weight] of down) edge(high, low, weight);
  svg.classList.add("traced");
  elements[number].classList.add("pin");
  elements[number].setAttribute("aria-pressed", "true");
  tell(get("card"), number);
  const { kind } = nodes[number];
  list(get("above"), kind === "detail" ? "A detail of" : "Summarised by", heaviest(over[number]));
  list(get("below"), kind === "chunk" ? "Its details" : "Rests on", heaviest(nodes[number].over));
  get("pinned").hidden = false;
}
get("unpin").addEventListener("click", clear);
function go(number) {
  const band = nodes[number].band;
  if (band >= 0 && !bands[band].on) toggle(band);
  choose(number);
  requestAnimationFrame(() => reveal(elements[number]));
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
const visible = (edges) => heaviest(edges).find(([one]) => nodes[one].band < 0 || bands[nodes[one].band].on)?.[0];
const steps = {
  ArrowLeft: (number) => along(number, -1),
  ArrowRight: (number) => along(number, 1),
  ArrowUp: (number) => visible(over[number]),
  ArrowDown: (number) => visible(nodes[number].over),
};
const moves = { ArrowLeft: [70, 0], ArrowRight: [-70, 0], ArrowUp: [0, 70], ArrowDown: [0, -70] };
stage.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const number = touched(event);
  const { key } = event;
  if (key === "+" || key === "=") zoom(1.3);
  else if (key === "-") zoom(1 / 1.3);
  else if (key === "0") reset();
  else if (number !== null && steps[key]) {
    const next = steps[key](number);
    if (next !== undefined) focus(next);
  } else if (number !== null && (key === "Enter" || key === " ")) pin === number ? clear() : choose(number);
  else if (moves[key]) move(...moves[key]);
  else return;
  event.preventDefault();
});
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
});
stage.addEventListener("focusout", hide);
stage.addEventListener("pointerover", (event) => {
  const number = touched(event);
  if (number === null || fingers.size) hide(); else hint(number);
});
stage.addEventListener("pointerleave", hide);
stage.addEventListener("click", (event) => {
  if (dragged) return;
  const number = touched(event);
  if (number === null || number === pin) clear(); else choose(number);
});

// Bands on and off: those under one that is gone move up.
const foot = whole.height - down(book);
const buttons = [...get("bands").children];
function stack() {
  line = bands[0].top;
  for (const band of bands) {
    band.element.style.display = band.on ? "" : "none";
    band.element.setAttribute("transform", `translate(0 ${line})`);
    if (band.on) line += band.step;
  }
  whole.height = line + foot;
}
function toggle(number) {
  bands[number].on = !bands[number].on;
  buttons[number].setAttribute("aria-pressed", String(bands[number].on));
  if (nodes[stop].band === number) rest(0);
  stack();
  show();
}
function paint() { buttons.forEach((button, number) => button.style.setProperty("--hue", hue({ band: number }))); }
buttons.forEach((button, number) => button.addEventListener("click", () => toggle(number)));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
paint();

// What a question found.
if (graph.question) {
  get("asked").hidden = false;
  get("question").textContent = graph.question;
  get("how").textContent = graph.hits.length ? `${graph.hits.length} passages, mode ${graph.mode}` : "Nothing was found.";
  graph.hits.forEach(([number, score], place) => {
    const button = put(put(get("hits"), "li", "", ""), "button", "", "");
    button.type = "button";
    tint(button, nodes[number]);
    put(button, "span", "rank", place + 1);
    put(button, "span", "what", nodes[number].what);
    put(button, "span", "where", ` · score ${score.toFixed(3)}`);
    if (nodes[number].where) put(button, "div", "where", nodes[number].where);
    put(button, "span", "short", nodes[number].text);
    button.addEventListener("click", () => go(number));
  });
}
reset();
