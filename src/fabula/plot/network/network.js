// The network in its stage, the table beside it, and what is told of one figure or one tie.

// graph: question, mode, walked [figure...], best first, first: how many are shown at first, sections
// [title...], types [[name, hue, count, is shown at first]...], figures [{name, type, text, names [[form,
// count, why]...], mentions [[section, count]...], at [x, y, radius]}], those mentioned most first, whose
// elements are #f and the place in the list, bonds [{ends, text, keywords, chunks [[section, count]...],
// first [section, words], last}], whose elements are #b and the place. Sections are numbered from 0.
// communities [{level, numbers, hues, parent, title, size, members, importance, summary, findings [[summary,
// explanation, chunks]...], found}], numbers and hues from its own level on; none unless they are drawn, passages {chunk: [section, text]}.
const svg = document.querySelector("svg.picture");
const tip = get("tip");
document.documentElement.classList.add("scripted");
for (const name of ["viewBox", "width", "height"]) svg.removeAttribute(name);
get("view").removeAttribute("transform");

const sum = (counts, from = 0, to = Infinity) =>
  counts.reduce((total, [section, count]) => (section >= from && section <= to ? total + count : total), 0);
const figures = graph.figures.map((one, number) => {
  const element = get("f" + number);
  const [circle, caption] = ["circle", "text"].map((tag) => element.querySelector(tag));
  return { ...one, number, element, circle, caption, ties: [], whole: sum(one.mentions), now: 0, shown: false };
});
const bonds = graph.bonds.map((one, number) => {
  const element = get("b" + number);
  return { ...one, number, element, lines: [...element.children], whole: sum(one.chunks), now: 0, shown: false };
});
for (const bond of bonds) for (const end of bond.ends) figures[end].ties.push(bond);
const groups = graph.communities.map((one, place) =>
  ({ ...one, place, order: one.numbers[0], hue: one.hues[0], hasBelow: false }));
for (const one of groups) if (one.parent >= 0) groups[one.parent].hasBelow = true;
const deepest = Math.max(-1, ...groups.map((one) => one.level));
const walked = new Set(graph.walked);
const hues = new Map(graph.types.map(([name, hue]) => [name, hue]));
const on = new Set(graph.types.flatMap(([name, , , first]) => (first ? [name] : [])));
const titled = (section) => `${section + 1}. ${graph.sections[section] || "(no heading)"}`;
const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
const first = (one) => one.mentions[0]?.[0] ?? 0;
const last = (one) => one.mentions.at(-1)?.[0] ?? 0;
function tint(element, figure) {
  element.style.setProperty("--hue", getComputedStyle(figure.element).color);
}

// Who is shown: the first so many of the types that are on, those that were walked, and the one that is
// read of; and of these, who is there in the sections that the slider names.
const finale = graph.sections.length - 1;
let from = 0, to = finale, most = graph.first, pin = null, words = "";
const isTie = (one) => one !== null && "ends" in one;
const isGroup = (one) => one !== null && "members" in one;
const pinned = (figure) => pin === figure || (isTie(pin) && pin.ends.includes(figure.number)) ||
  (isGroup(pin) && pin.members.includes(figure.number));
function choose() {
  let places = 0;
  for (const one of figures) {
    one.shown = (on.has(one.type) && places++ < most) || walked.has(one.number) || pinned(one);
    one.now = sum(one.mentions, from, to);
    one.element.style.display = one.shown ? "" : "none";
    one.element.classList.toggle("gone", !one.now);
  }
  for (const one of bonds) {
    one.now = sum(one.chunks, from, to);
    one.shown = one.now > 0 && one.ends.every((end) => figures[end].shown);
    one.element.style.display = one.shown ? "" : "none";
    one.lines[0].setAttribute("stroke-width", 0.8 + 1.3 * Math.log(Math.max(one.now, 1)));
  }
  place();
  list();
}

// The view.
let at = { x: 0, y: 0, zoom: 1, stretch: [1, 1] }, moved = false;
function place() {
  const shown = figures.filter((one) => one.shown);
  // Discs shrink where they would cover each other, and don't grow, so that one sees more of a knot.
  const size = Math.min(Math.max(at.zoom, 0.4), 1);
  for (const one of shown) {
    one.radius = one.now ? Math.max(size * (4 + (one.at[2] - 4) * Math.sqrt(one.now / one.whole)), 3) : 3;
    one.circle.setAttribute("r", one.radius);
    one.x = at.x + one.at[0] * at.stretch[0] * at.zoom;
    one.y = at.y + one.at[1] * at.stretch[1] * at.zoom;
    one.circle.setAttribute("cx", one.x);
    one.circle.setAttribute("cy", one.y);
  }
  for (const { ends, lines, shown } of bonds) {
    if (!shown) continue;
    const [one, other] = ends.map((end) => figures[end]);
    for (const line of lines) {
      line.setAttribute("x1", one.x);
      line.setAttribute("y1", one.y);
      line.setAttribute("x2", other.x);
      line.setAttribute("y2", other.y);
    }
  }
  label(shown);
}
// Names are shown as far as they cover no other and no disc of about their own's size, the weightiest
// first: under their disc, or else over it, or beside it.
const NAMED = 20;
const widths = new Map();
function width(text) {
  if (!widths.has(text)) widths.set(text, text.getComputedTextLength() + 6);
  return widths.get(text);
}
function label(shown) {
  const discs = shown.filter((one) => one.now).map((one) => ({ ...boxed(one.x, one.y, one.radius, one.radius), of: one }));
  const taken = [];
  const before = (one) => (pinned(one) ? 0 : one.element.classList.contains("lit") ? 1 : walked.has(one.number) ? 2 : 3);
  const order = shown.filter((one) => one.now)
    .sort((one, other) => before(one) - before(other) || other.now - one.now || one.number - other.number);
  for (const one of shown) one.caption.style.visibility = "hidden";
  for (const [turn, one] of order.entries()) {
    const { x, y, radius } = one, half = width(one.caption) / 2;
    const larger = discs.filter(({ of }) => of !== one && (of.radius >= 0.6 * radius || walked.has(of.number)));
    const isFree = (box, others) => box.left > 0 && box.right < stage.clientWidth &&
      !others.some(({ left, right, top, foot }) =>
        box.left < right && left < box.right && box.top < foot && top < box.foot);
    const aside = radius + half + 1;
    const places = [[x, y + radius + 8], [x, y - radius - 7], [x + aside, y], [x - aside, y]];
    const find = (others) => places.find(([x, y]) => isFree(boxed(x, y, half, 6.5), others));
    // The first ones are named even where that covers a disc; those that are larger lie over a name.
    const over = discs.filter(({ of }) => of.number < one.number);
    const place = find([...taken, ...larger]) ?? (turn < NAMED ? find([...taken, ...over]) : null) ??
      (pinned(one) && !isGroup(pin) ? places[0] : null);
    if (!place) continue;
    taken.push(boxed(...place, half, 6.5));
    one.caption.setAttribute("x", place[0]);
    one.caption.setAttribute("y", place[1] + 4);
    one.caption.style.visibility = "";
  }
}
const boxed = (x, y, half, high) => ({ left: x - half, right: x + half, top: y - high, foot: y + high });
function fit() {
  const shown = figures.filter((one) => one.shown);
  const range = (axis) => {
    const all = shown.map((one) => one.at[axis]);
    return [Math.min(...all), Math.max(...all)];
  };
  moved = false;
  if (!shown.length || !stage.clientWidth) return;
  const [[left, right], [top, foot]] = [range(0), range(1)];
  const [beside, above, below] = [60, 30, 40];
  const wide = stage.clientWidth - 2 * beside, high = stage.clientHeight - above - below;
  // Stretched to a tall or a wide window, but not so far that one would not know it again.
  const rooms = [wide / Math.max(right - left, 1), high / Math.max(foot - top, 1)];
  at.zoom = Math.max(0.05, Math.min(...rooms, 1.6));
  at.stretch = rooms.map((one) => Math.min(Math.max(one / at.zoom, 1), 1.5));
  at.x = beside + wide / 2 - ((left + right) / 2) * at.stretch[0] * at.zoom;
  at.y = above + high / 2 - ((top + foot) / 2) * at.stretch[1] * at.zoom;
  place();
}
function zoom(by, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  const was = at.zoom;
  moved = true;
  at.zoom = Math.min(Math.max(was * by, 0.05), 8);
  at.x = x - ((x - at.x) * at.zoom) / was;
  at.y = y - ((y - at.y) * at.zoom) / was;
  place();
}
function move(x, y) {
  moved = true;
  at.x += x;
  at.y += y;
  place();
}
function reveal(figure) {
  const { x, y } = figure, [wide, high] = [stage.clientWidth, stage.clientHeight];
  if (x < 30 || x > wide - 30 || y < 30 || y > high - 40) move(wide / 2 - x, high / 2 - y);
}
steer({ zoom, move, fit, hide });
new ResizeObserver(() => (moved ? place() : fit())).observe(stage);

// What the pointer is on: a figure with whom it is tied to, or a tie with both of its figures.
const touched = (event) => {
  const element = event.target.closest?.(".figure, .bond");
  if (!element) return null;
  return (element.matches(".figure") ? figures : bonds)[+element.id.slice(1)];
};
function light(one) {
  for (const element of svg.querySelectorAll(".lit, .pin")) element.classList.remove("lit", "pin");
  svg.classList.toggle("faded", one !== null);
  if (one === null) return;
  if (isGroup(one)) {
    const inside = new Set(one.members);
    for (const bond of bonds) bond.element.classList.toggle("lit", bond.ends.every((end) => inside.has(end)));
    for (const number of one.members) figures[number].element.classList.add("lit");
    return;
  }
  const ties = isTie(one) ? [one] : one.ties.filter((bond) => bond.shown);
  for (const bond of ties) {
    bond.element.classList.add("lit");
    for (const end of bond.ends) figures[end].element.classList.add("lit");
  }
  one.element.classList.add("lit", "pin");
}
function hide() {
  tip.hidden = true;
  light(pin);
}
function hint(one) {
  tip.replaceChildren();
  if (isTie(one)) {
    tip.style.removeProperty("--hue");
    put(tip, "div", "what", one.ends.map((end) => figures[end].name).join(" and "));
    put(tip, "div", "where", told(one));
    put(tip, "div", "short", one.first[1] || one.text);
  } else {
    tint(tip, one);
    put(tip, "div", "what", one.name);
    put(tip, "div", "where", told(one));
    if (one.group) put(tip, "div", "where", `${one.group.order} ${one.group.title}`);
    put(tip, "div", "short", one.text);
  }
  tip.hidden = false;
}
function told(one) {
  const part = one.now === one.whole ? "" : ` of ${one.whole.toLocaleString("en")}`;
  if (isTie(one)) {
    const [begins, ends] = [one.first[0], one.last[0]];
    const until = ends === begins ? "" : ` to ${ends + 1}`;
    return `together in ${one.now}${part} ${one.whole === 1 ? "passage" : "passages"}, section ${begins + 1}${until}`;
  }
  return `${one.type} · ${one.now.toLocaleString("en")}${part} ${one.whole === 1 ? "mention" : "mentions"}`;
}
stage.addEventListener("pointermove", (event) => {
  const one = fingers.size ? null : touched(event);
  if (!one) return tip.hidden ? undefined : hide();
  if (tip.hidden || hint.of !== one) {
    hint.of = one;
    hint(one);
    light(one);
  }
  const size = tip.getBoundingClientRect();
  const below = event.clientY + 18 + size.height < innerHeight;
  tip.style.left = Math.min(Math.max(event.clientX - size.width / 2, 8), innerWidth - size.width - 8) + "px";
  tip.style.top = Math.max(below ? event.clientY + 18 : event.clientY - 12 - size.height, 8) + "px";
});
stage.addEventListener("pointerleave", hide);
stage.addEventListener("click", (event) => {
  if (dragged) return;
  const one = touched(event);
  tip.hidden = true;
  select(one === pin ? null : one);
});

// What is told of the one that is selected.
function select(one) {
  pin = one;
  get("pinned").hidden = one === null;
  if (one) {
    (isTie(one) ? tellTie : isGroup(one) ? tellGroup : tellFigure)(get("card"), one);
    get("pinned").scrollTop = get("side").scrollTop = 0;
  }
  choose();
  light(one);
  place();
  listGroups();
  if (one && "at" in one) reveal(one);
}
get("unpin").addEventListener("click", () => select(null));
function tellFigure(card, one) {
  card.replaceChildren();
  put(card, "h2", "", one.name);
  put(card, "div", "where", `${one.type} · ${counted(one.whole, "mention")} · ${counted(one.ties.length, "tie")}`);
  const others = one.names.filter(([form]) => form !== one.name);
  if (others.length) {
    const also = others.map(([form, count, why]) => `${form} ${count}${why ? ` (${why})` : ""}`);
    put(card, "div", "where", `also ${also.join(", ")}`);
  }
  if (one.group) button(put(card, "div", "ends", "in "), "", `${one.group.order} ${one.group.title}`, () => select(one.group));
  put(card, "div", "said", one.text.trim());
  const ties = [...one.ties].sort((a, b) => b.whole - a.whole || a.number - b.number);
  if (ties.length) {
    put(card, "h3", "", "Tied to");
    const items = put(card, "ul", "ties", "");
    for (const bond of ties) {
      const other = figures[bond.ends[0] === one.number ? bond.ends[1] : bond.ends[0]];
      const item = button(put(items, "li", "", ""), "", "", () => select(bond));
      tint(item, other);
      put(item, "span", "what", other.name);
      put(item, "span", "where", ` · ${counted(bond.whole, "passage")}`);
    }
  }
  put(card, "h3", "", "Where");
  const places = put(card, "ul", "places", "");
  const top = Math.max(...one.mentions.map(([, count]) => count));
  for (const [section, count] of one.mentions) {
    const item = button(put(places, "li", "", ""), "", "", () => show(section, true));
    tint(item, one);
    put(item, "span", "", titled(section));
    put(item, "span", "where", ` · ${counted(count, "mention")}`);
    put(item, "span", "bar", "").style.width = (100 * count) / top + "%";
  }
}
function tellTie(card, one) {
  card.replaceChildren();
  const [source, target] = one.ends.map((end) => figures[end]);
  const head = put(card, "h2", "ends", "");
  button(head, "", source.name, () => select(source));
  head.append(" and ");
  button(head, "", target.name, () => select(target));
  const keywords = one.keywords.length ? ` · ${one.keywords.join(", ")}` : "";
  put(card, "div", "where", `together in ${counted(one.whole, "passage")}${keywords}`);
  const meetings = one.whole === 1 ? [["The only meeting", one.first]] : [["First meeting", one.first], ["Last meeting", one.last]];
  for (const [title, [section, said]] of meetings) {
    put(card, "h3", "", title);
    put(card, "div", "where", titled(section));
    if (said) put(card, "div", "said", said);
  }
  if (one.text.trim() && one.text.trim() !== one.first[1].trim()) {
    put(card, "h3", "", "What is said");
    put(card, "div", "said", one.text.trim());
  }
}

// Communities: those of a level and, of branches that end above it, the last; their numbers stand beside
// their members' names, so that colour is not needed.
let level = groups.length ? 0 : -1;
function regroup() {
  for (const one of figures) one.group = null;
  for (const one of groups) {
    const now = Math.min(Math.max(level - one.level, 0), one.numbers.length - 1);
    [one.order, one.hue] = [one.numbers[now], one.hues[now]];
  }
  for (const one of groups) if (one.level <= level) for (const number of one.members) figures[number].group = one;
  for (const one of figures) {
    const hue = one.group ? one.group.hue : level >= 0 ? 7 : hues.get(one.type);
    for (const name of [...one.element.classList]) if (name.startsWith("hue")) one.element.classList.remove(name);
    one.element.classList.add(`hue${hue}`);
    one.element.classList.toggle("walked", walked.has(one.number) || Boolean(one.group?.found));
    one.caption.querySelector(".of")?.remove();
    if (one.group) {
      const order = document.createElementNS("http://www.w3.org/2000/svg", "tspan");
      order.setAttribute("class", "of");
      order.setAttribute("dx", 4);
      order.textContent = one.group.order;
      one.caption.append(order);
    }
  }
  widths.clear();
  document.documentElement.classList.toggle("grouped", level >= 0);
  get("which-level").textContent = level < 0 ? "none: colours are types" : `${level + 1} of ${deepest + 1}`;
  listGroups();
  choose();
  light(pin);
}
const communities = (count) => (count === 1 ? "1 community" : `${count} communities`);
const listed = () => groups.filter((one) => one.level === level || (one.level < level && !one.hasBelow))
  .sort((one, other) => one.order - other.order);
function listGroups() {
  get("grouped").hidden = level < 0;
  const there = level < 0 ? [] : listed();
  get("together").textContent = `${communities(there.length)}, coarse to fine: level ${level + 1} of ${deepest + 1}`;
  get("communities").replaceChildren(...there.map((one) => {
    const item = document.createElement("li");
    const line = button(item, "", "", () => select(pin === one ? null : one));
    line.style.setProperty("--hue", hueOf(one));
    line.setAttribute("aria-pressed", String(pin === one));
    put(line, "span", "order", one.order);
    put(line, "span", "what", one.title);
    const rank = one.importance === null ? "no report" : `importance ${one.importance}`;
    put(line, "span", "where", ` · ${one.size} · ${rank}${one.found ? ` · ★ ${one.found}` : ""}`);
    item.addEventListener("pointerenter", () => light(one));
    item.addEventListener("pointerleave", () => light(pin));
    return item;
  }));
}
function hueOf(group) {
  const probe = put(document.body, "i", `picture hue${group.hue}`, "");
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
function names(parent, title, numbers) {
  if (!numbers.length) return;
  put(parent, "h3", "", title);
  const items = put(parent, "ul", "members", "");
  for (const number of numbers) {
    const item = button(put(items, "li", "", ""), "", figures[number].name, () => select(figures[number]));
    tint(item, figures[number]);
  }
}
function tellGroup(card, one) {
  card.replaceChildren();
  put(card, "h2", "", one.title);
  const drawn = one.members.length < one.size ? `, ${one.members.length} drawn` : "";
  const rank = one.importance === null ? "" : ` · importance ${one.importance} of 10`;
  put(card, "div", "where", `level ${one.level + 1} of ${deepest + 1} · ${counted(one.size, "member")}${drawn}${rank}`);
  put(card, "div", "said", one.summary || "There is no report of these.");
  for (const [summary, explanation, chunks] of one.findings) {
    // Of a report by rules the finding is the summary itself.
    if (summary !== one.summary) put(card, "h3", "", summary);
    if (explanation) put(card, "div", "said", explanation);
    const items = put(card, "div", "rests", "");
    for (const chunk of chunks) {
      const [section, text] = graph.passages[chunk];
      const passage = put(items, "details", "", "");
      put(passage, "summary", "", `passage ${chunk + 1}, ${titled(section)}`);
      put(passage, "div", "said", text.trim());
    }
  }
  names(card, "Members", one.members);
  const relatives = [...(one.parent >= 0 ? [groups[one.parent]] : []), ...groups.filter((other) => other.parent === one.place)];
  if (!relatives.length) return;
  put(card, "h3", "", "Above and below it");
  const items = put(card, "ul", "", "");
  for (const other of relatives) {
    const item = button(put(items, "li", "", ""), "", `level ${other.level + 1}: ${other.title}`, () => goTo(other));
    item.style.setProperty("--hue", hueOf(other));
  }
}
function goTo(group) {
  level = group.level;
  get("level").value = level + 1;
  regroup();
  select(group);
}

// The table: who is there, or whom the words are found with.
const columns = [
  ["name", (one) => one.name.toLocaleLowerCase(), 1, "Sort by name"],
  ["type", (one) => one.type, 1, "Sort by type"],
  ["mentions", (one) => one.now, -1, "Sort by how often each is mentioned in these sections"],
  ["first", first, 1, "Sort by the number of the section in which each is first mentioned"],
  ["last", last, -1, "Sort by the number of the section in which each is last mentioned"],
];
let sorted = 2, way = -1, rows = [];
const headings = columns.map(([name, , start, title], number) => {
  const cell = put(document.querySelector("thead tr"), "th", "", "");
  cell.scope = "col";
  button(cell, "", name, () => {
    way = sorted === number ? -way : start;
    sorted = number;
    list();
  }).title = title;
  return cell;
});
const said = new RegExp("\\s+", "gu");
const normal = (text) => text.normalize("NFC").toLocaleLowerCase().replace(said, " ");
const sought = figures.map((one) => normal([one.name, ...one.names.map(([form]) => form)].join("\n")) + "\n" + normal(one.text));
function list() {
  const asked = normal(words.trim());
  const isMatch = (one) => asked && sought[one.number].includes(asked);
  rows = figures.filter((one) => (asked ? isMatch(one) : one.shown && one.now));
  for (const one of figures) one.element.classList.toggle("match", Boolean(isMatch(one)));
  const value = columns[sorted][1];
  rows.sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    return (a < b ? -way : a > b ? way : 0) || other.now - one.now || one.number - other.number;
  });
  headings.forEach((cell, number) => {
    if (number === sorted) cell.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
    else cell.removeAttribute("aria-sort");
  });
  const body = document.querySelector("tbody");
  body.replaceChildren(...rows.map((one) => {
    const row = document.createElement("tr");
    row.classList.toggle("pin", pin === one);
    const name = button(put(row, "td", "", ""), "dot", one.name, () => select(pin === one ? null : one));
    tint(name, one);
    name.title = one.group ? `${one.name}: ${one.group.order} ${one.group.title}` : one.name;
    if (one.group) name.prepend(put(name, "span", "order", one.group.order));
    name.setAttribute("aria-pressed", String(pin === one));
    put(row, "td", "", one.type).title = one.type;
    put(row, "td", "", one.now.toLocaleString("en"));
    for (const section of [first(one), last(one)]) put(row, "td", "", section + 1).title = titled(section);
    return row;
  }));
  const ties = bonds.filter((one) => one.shown).length;
  get("count").textContent = asked ? `${rows.length || "Nobody"} found` : `${rows.length} there, ${counted(ties, "tie")}`;
}
get("words").addEventListener("input", () => {
  words = get("words").value;
  list();
});
get("words").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && rows.length) select(rows[0]);
  if (event.key !== "Escape") return;
  get("words").value = words = "";
  list();
});

// The sections, and how many of which types.
function show(section, alone) {
  to = section;
  get("to").value = section + 1;
  get("alone").checked = alone;
  from = alone ? section : 0;
  get("section").textContent = !alone && section === finale ? "the end: the whole text" : titled(section);
  get("section").title = titled(section);
  choose();
  light(pin);
}
get("to").max = graph.sections.length;
get("to").addEventListener("input", () => show(get("to").value - 1, get("alone").checked));
get("alone").addEventListener("change", () => show(to, get("alone").checked));
const many = () => {
  const there = figures.filter((one) => on.has(one.type)).length;
  get("most").max = Math.max(10, Math.ceil(there / 10) * 10);
  get("most").value = most;
  get("many").textContent = Math.min(most, there);
};
get("most").addEventListener("input", () => {
  most = +get("most").value;
  many();
  choose();
  fit();
});
for (const [name, hue, count] of graph.types) {
  const label = put(get("types"), "label", `hue${hue}`, "");
  const box = put(label, "input", "", "");
  box.type = "checkbox";
  box.checked = on.has(name);
  const words = put(label, "span", "dot", name);
  words.title = counted(count, "entity").replace("entitys", "entities");
  box.addEventListener("change", () => {
    if (box.checked) on.add(name); else on.delete(name);
    many();
    choose();
    fit();
  });
}

window.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input[type=search]");
  if (event.key === "Escape" && !typing) {
    select(null);
    hide();
  } else if (event.key === "/" && !typing) {
    get("words").focus();
    event.preventDefault();
  }
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", list);

get("groups").hidden = !groups.length;
get("level").max = deepest + 1;
get("level").value = level + 1;
get("level").addEventListener("input", () => {
  level = get("level").value - 1;
  if (isGroup(pin)) select(null);
  regroup();
});

// Whom a question's mode went through.
if (graph.question) {
  get("asked").hidden = false;
  get("question").textContent = graph.question;
  const nobody = `Mode ${graph.mode} went through nobody here: hippo, fast, light, mini and local walk a network, from whom a question names.`;
  get("how").textContent = walked.size ? `Mode ${graph.mode} went through ${walked.size} of these, the best first:` : nobody;
  const reports = groups.filter((one) => one.found).sort((one, other) => one.found - other.found);
  if (reports.length) {
    get("how").textContent = `Mode ${graph.mode} found the reports of ${communities(reports.length)}, the best first:`;
    level = reports[0].level;
    get("level").value = level + 1;
  }
  for (const one of reports) {
    const item = button(put(get("walked"), "li", "", ""), "", one.title, () => goTo(one));
    item.style.setProperty("--hue", hueOf(one));
  }
  for (const number of graph.walked) {
    const item = button(put(get("walked"), "li", "", ""), "", figures[number].name, () => select(figures[number]));
    tint(item, figures[number]);
  }
}
many();
show(finale, false);
regroup();
fit();
