// The page of a network: the picture in its stage, the table beside it, and the card of one figure,
// relation or community.

// The data of the page, `graph`; sections are numbered from 0:
//   question, mode
//   walked       positions of the figures that the mode visited, best first
//   first        how many figures are shown at first
//   sections     [title...]
//   types        [[name, hue, count, is shown at first]...]
//   figures      [{name, type, text, names [[form, count, why]...], mentions [[section, count]...],
//                at [x, y, radius]}...], most mentioned first; the element of a figure is #f and its position
//   relations    [{ends, text, keywords, chunks [[section, count]...], quotations [[section, count]...] of one to
//                the other, first [section, text], last}...]; the element of a relation is #b and its position
//   communities  [{level, numbers, hues, parent, title, size, members, importance, summary, findings
//                [[summary, explanation, chunks]...], rank}...]; numbers and hues from its own level on; empty
//                unless communities are drawn
//   passages     {chunk: [section, text]}, which findings cite
get("view").removeAttribute("transform");

const sum = (counts, from = 0, to = Infinity) =>
  counts.reduce((total, [section, count]) => (section >= from && section <= to ? total + count : total), 0);
const figures = graph.figures.map((figure, number) => {
  const element = get("f" + number);
  const [circle, caption] = ["circle", "text"].map((tag) => element.querySelector(tag));
  return { ...figure, number, element, circle, caption, relations: [], whole: sum(figure.mentions), now: 0, shown: false };
});
const relations = graph.relations.map((relation, number) => {
  const element = get("b" + number);
  return { ...relation, number, element, lines: [...element.children], whole: sum(relation.chunks), now: 0, shown: false };
});
for (const relation of relations) for (const end of relation.ends) figures[end].relations.push(relation);
const groups = graph.communities.map((community, place) =>
  ({ ...community, place, order: community.numbers[0], hue: community.hues[0], hasBelow: false }));
for (const group of groups) if (group.parent >= 0) groups[group.parent].hasBelow = true;
const deepest = Math.max(-1, ...groups.map((group) => group.level));
const walked = new Set(graph.walked);
const hues = new Map(graph.types.map(([name, hue]) => [name, hue]));
const on = new Set(graph.types.flatMap(([name, , , first]) => (first ? [name] : [])));
const titled = (section) => `${section + 1}. ${graph.sections[section] || "(no heading)"}`;
const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
const first = (figure) => figure.mentions[0]?.[0] ?? 0;
const last = (figure) => figure.mentions.at(-1)?.[0] ?? 0;
function tint(element, figure) {
  element.style.setProperty("--hue", getComputedStyle(figure.element).color);
}

// Which figures are shown: the most mentioned of the selected types, those that the mode visited, and the
// pinned ones; of these, those that are not mentioned in the selected sections are pale.
const finale = graph.sections.length - 1;
let from = 0, to = finale, most = graph.first, pin = null, words = "", speaks = false;
const isRelation = (item) => item !== null && "ends" in item;
const isGroup = (item) => item !== null && "members" in item;
const pinned = (figure) => pin === figure || (isRelation(pin) && pin.ends.includes(figure.number)) ||
  (isGroup(pin) && pin.members.includes(figure.number));
function choose() {
  let places = 0;
  for (const figure of figures) {
    figure.shown = (on.has(figure.type) && places++ < most) || walked.has(figure.number) || pinned(figure);
    figure.now = sum(figure.mentions, from, to);
    figure.element.style.display = figure.shown ? "" : "none";
    figure.element.classList.toggle("gone", !figure.now);
  }
  for (const relation of relations) {
    relation.now = sum(speaks ? relation.quotations : relation.chunks, from, to);
    relation.shown = relation.now > 0 && relation.ends.every((end) => figures[end].shown);
    relation.element.style.display = relation.shown ? "" : "none";
    relation.lines[0].setAttribute("stroke-width", 0.8 + 1.3 * Math.log(Math.max(relation.now, 1)));
  }
  place();
  list();
}

// The view.
let at = { x: 0, y: 0, zoom: 1, stretch: [1, 1] }, moved = false;
function place() {
  const shown = figures.filter((figure) => figure.shown);
  // Discs shrink when one zooms out, and do not grow when one zooms in, so that a dense part opens up.
  const size = Math.min(Math.max(at.zoom, 0.4), 1);
  for (const figure of shown) {
    figure.radius = figure.now ? Math.max(size * (4 + (figure.at[2] - 4) * Math.sqrt(figure.now / figure.whole)), 3) : 3;
    figure.circle.setAttribute("r", figure.radius);
    figure.x = at.x + figure.at[0] * at.stretch[0] * at.zoom;
    figure.y = at.y + figure.at[1] * at.stretch[1] * at.zoom;
    figure.circle.setAttribute("cx", figure.x);
    figure.circle.setAttribute("cy", figure.y);
  }
  for (const { ends, lines, shown } of relations) {
    if (!shown) continue;
    const [source, target] = ends.map((end) => figures[end]);
    for (const line of lines) {
      line.setAttribute("x1", source.x);
      line.setAttribute("y1", source.y);
      line.setAttribute("x2", target.x);
      line.setAttribute("y2", target.y);
    }
  }
  label(shown);
}
// Names are shown where they cover no other name and no disc of at least about the size of their own, the
// most mentioned figures first: under the disc, or else above or beside it.
const ALWAYS_NAMED = 20;
const widths = new Map();
function width(text) {
  if (!widths.has(text)) widths.set(text, text.getComputedTextLength() + 6);
  return widths.get(text);
}
function label(shown) {
  const discs = shown.filter((figure) => figure.now).map((figure) => ({ ...boxed(figure.x, figure.y, figure.radius, figure.radius), of: figure }));
  const taken = [];
  const before = (figure) => (pinned(figure) ? 0 : figure.element.classList.contains("lit") ? 1 : walked.has(figure.number) ? 2 : 3);
  const order = shown.filter((figure) => figure.now)
    .sort((a, b) => before(a) - before(b) || b.now - a.now || a.number - b.number);
  for (const figure of shown) figure.caption.style.visibility = "hidden";
  for (const [turn, figure] of order.entries()) {
    const { x, y, radius } = figure, half = width(figure.caption) / 2;
    const larger = discs.filter(({ of }) => of !== figure && (of.radius >= 0.6 * radius || walked.has(of.number)));
    const isFree = (box, boxes) => box.left > 0 && box.right < stage.clientWidth &&
      !boxes.some(({ left, right, top, foot }) =>
        box.left < right && left < box.right && box.top < foot && top < box.foot);
    const aside = radius + half + 1;
    const places = [[x, y + radius + 8], [x, y - radius - 7], [x + aside, y], [x - aside, y]];
    const find = (boxes) => places.find(([x, y]) => isFree(boxed(x, y, half, 6.5), boxes));
    // The first figures are named even where the name covers a disc, but not that of a more mentioned figure.
    const over = discs.filter(({ of }) => of.number < figure.number);
    const place = find([...taken, ...larger]) ?? (turn < ALWAYS_NAMED ? find([...taken, ...over]) : null) ??
      (pinned(figure) && !isGroup(pin) ? places[0] : null);
    if (!place) continue;
    taken.push(boxed(...place, half, 6.5));
    figure.caption.setAttribute("x", place[0]);
    figure.caption.setAttribute("y", place[1] + 4);
    figure.caption.style.visibility = "";
  }
}
const boxed = (x, y, half, high) => ({ left: x - half, right: x + half, top: y - high, foot: y + high });
function fit() {
  const shown = figures.filter((figure) => figure.shown);
  const range = (axis) => {
    const all = shown.map((figure) => figure.at[axis]);
    return [Math.min(...all), Math.max(...all)];
  };
  moved = false;
  if (!shown.length || !stage.clientWidth) return;
  const [[left, right], [top, foot]] = [range(0), range(1)];
  const [beside, above, below] = [60, 30, 40];
  const wide = stage.clientWidth - 2 * beside, high = stage.clientHeight - above - below;
  // Stretch the picture to a tall or wide window, but not so far that it looks like another one.
  const rooms = [wide / Math.max(right - left, 1), high / Math.max(foot - top, 1)];
  at.zoom = Math.max(0.05, Math.min(...rooms, 1.6));
  at.stretch = rooms.map((room) => Math.min(Math.max(room / at.zoom, 1), 1.5));
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

// What the pointer is on: a figure with all its relations, or a relation with both of its figures.
const touched = (event) => {
  const element = event.target.closest?.(".figure, .relation");
  if (!element) return null;
  return (element.matches(".figure") ? figures : relations)[+element.id.slice(1)];
};
function light(item) {
  for (const element of svg.querySelectorAll(".lit, .pin")) element.classList.remove("lit", "pin");
  svg.classList.toggle("faded", item !== null);
  if (item === null) return;
  if (isGroup(item)) {
    const inside = new Set(item.members);
    for (const relation of relations) relation.element.classList.toggle("lit", relation.ends.every((end) => inside.has(end)));
    for (const number of item.members) figures[number].element.classList.add("lit");
    return;
  }
  const lit = isRelation(item) ? [item] : item.relations.filter((relation) => relation.shown);
  for (const relation of lit) {
    relation.element.classList.add("lit");
    for (const end of relation.ends) figures[end].element.classList.add("lit");
  }
  item.element.classList.add("lit", "pin");
}
function hide() {
  tip.hidden = true;
  light(pin);
}
function hint(item) {
  tip.replaceChildren();
  if (isRelation(item)) {
    tip.style.removeProperty("--hue");
    put(tip, "div", "what", item.ends.map((end) => figures[end].name).join(" and "));
    put(tip, "div", "where", describe(item));
    put(tip, "div", "short", item.first[1] || item.text);
  } else {
    tint(tip, item);
    put(tip, "div", "what", item.name);
    put(tip, "div", "where", describe(item));
    if (item.group) put(tip, "div", "where", `${item.group.order} ${item.group.title}`);
    put(tip, "div", "short", item.text);
  }
  tip.hidden = false;
}
function describe(item) {
  const part = item.now === item.whole ? "" : ` of ${item.whole.toLocaleString("en")}`;
  if (isRelation(item) && speaks) return `${counted(item.now, "quotation")} from one to the other`;
  if (isRelation(item)) {
    const [begins, ends] = [item.first[0], item.last[0]];
    const until = ends === begins ? "" : ` to ${ends + 1}`;
    return `together in ${item.now}${part} ${item.whole === 1 ? "passage" : "passages"}, section ${begins + 1}${until}`;
  }
  return `${item.type} · ${item.now.toLocaleString("en")}${part} ${item.whole === 1 ? "mention" : "mentions"}`;
}
stage.addEventListener("pointermove", (event) => {
  const item = fingers.size ? null : touched(event);
  if (!item) return tip.hidden ? undefined : hide();
  if (tip.hidden || hint.of !== item) {
    hint.of = item;
    hint(item);
    light(item);
  }
  placeTip(event);
});
stage.addEventListener("pointerleave", hide);
stage.addEventListener("click", (event) => {
  if (dragged) return;
  const item = touched(event);
  tip.hidden = true;
  select(item === pin ? null : item);
});

// The card of what is selected.
function select(item) {
  pin = item;
  get("pinned").hidden = item === null;
  if (item) {
    (isRelation(item) ? showRelation : isGroup(item) ? showGroup : showFigure)(get("card"), item);
    get("pinned").scrollTop = get("side").scrollTop = 0;
  }
  choose();
  light(item);
  place();
  listGroups();
  if (item && "at" in item) reveal(item);
}
get("unpin").addEventListener("click", () => select(null));
function showFigure(card, figure) {
  card.replaceChildren();
  put(card, "h2", "", figure.name);
  put(card, "div", "where", `${figure.type} · ${counted(figure.whole, "mention")} · ${counted(figure.relations.length, "tie")}`);
  const otherNames = figure.names.filter(([form]) => form !== figure.name);
  if (otherNames.length) {
    const also = otherNames.map(([form, count, why]) => `${form} ${count}${why ? ` (${why})` : ""}`);
    put(card, "div", "where", `also ${also.join(", ")}`);
  }
  if (figure.group) button(put(card, "div", "ends", "in "), "", `${figure.group.order} ${figure.group.title}`, () => select(figure.group));
  put(card, "div", "said", figure.text.trim());
  const relations = [...figure.relations].sort((a, b) => b.whole - a.whole || a.number - b.number);
  if (relations.length) {
    put(card, "h3", "", "Tied to");
    const items = put(card, "ul", "ties", "");
    for (const relation of relations) {
      const other = figures[relation.ends[0] === figure.number ? relation.ends[1] : relation.ends[0]];
      const item = button(put(items, "li", "", ""), "", "", () => select(relation));
      tint(item, other);
      put(item, "span", "what", other.name);
      put(item, "span", "where", ` · ${counted(relation.whole, "passage")}`);
    }
  }
  put(card, "h3", "", "Where");
  const places = put(card, "ul", "places", "");
  const top = Math.max(...figure.mentions.map(([, count]) => count));
  for (const [section, count] of figure.mentions) {
    const item = button(put(places, "li", "", ""), "", "", () => show(section, true));
    tint(item, figure);
    put(item, "span", "", titled(section));
    put(item, "span", "where", ` · ${counted(count, "mention")}`);
    put(item, "span", "bar", "").style.width = (100 * count) / top + "%";
  }
}
function showRelation(card, relation) {
  card.replaceChildren();
  const [source, target] = relation.ends.map((end) => figures[end]);
  const head = put(card, "h2", "ends", "");
  button(head, "", source.name, () => select(source));
  head.append(" and ");
  button(head, "", target.name, () => select(target));
  const keywords = relation.keywords.length ? ` · ${relation.keywords.join(", ")}` : "";
  put(card, "div", "where", `together in ${counted(relation.whole, "passage")}${keywords}`);
  const said = sum(relation.quotations);
  if (said) put(card, "div", "where", `${counted(said, "quotation")} from one to the other`);
  const meetings = relation.whole === 1 ? [["The only meeting", relation.first]] : [["First meeting", relation.first], ["Last meeting", relation.last]];
  for (const [title, [section, text]] of meetings) {
    put(card, "h3", "", title);
    put(card, "div", "where", titled(section));
    if (text) put(card, "div", "said", text);
  }
  if (relation.text.trim() && relation.text.trim() !== relation.first[1].trim()) {
    put(card, "h3", "", "Description");
    put(card, "div", "said", relation.text.trim());
  }
}

// Communities: those of a level and, of branches that end above it, the deepest. Their numbers stand beside
// the names of their members, so that colour is not needed.
let level = groups.length ? 0 : -1;
function regroup() {
  for (const figure of figures) figure.group = null;
  for (const group of groups) {
    const now = Math.min(Math.max(level - group.level, 0), group.numbers.length - 1);
    [group.order, group.hue] = [group.numbers[now], group.hues[now]];
  }
  for (const group of groups) {
    if (group.level <= level) for (const number of group.members) figures[number].group = group;
  }
  for (const figure of figures) {
    const hue = figure.group ? figure.group.hue : level >= 0 ? 7 : hues.get(figure.type);
    for (const name of [...figure.element.classList]) if (name.startsWith("hue")) figure.element.classList.remove(name);
    figure.element.classList.add(`hue${hue}`);
    figure.element.classList.toggle("walked", walked.has(figure.number) || Boolean(figure.group?.rank));
    figure.caption.querySelector(".of")?.remove();
    if (figure.group) {
      const order = document.createElementNS("http://www.w3.org/2000/svg", "tspan");
      order.setAttribute("class", "of");
      order.setAttribute("dx", 4);
      order.textContent = figure.group.order;
      figure.caption.append(order);
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
const listed = () => groups.filter((group) => group.level === level || (group.level < level && !group.hasBelow))
  .sort((a, b) => a.order - b.order);
function listGroups() {
  get("grouped").hidden = level < 0;
  const there = level < 0 ? [] : listed();
  get("together").textContent = `${communities(there.length)}, coarse to fine: level ${level + 1} of ${deepest + 1}`;
  get("communities").replaceChildren(...there.map((group) => {
    const item = document.createElement("li");
    const line = button(item, "", "", () => select(pin === group ? null : group));
    line.style.setProperty("--hue", hueOf(group));
    line.setAttribute("aria-pressed", String(pin === group));
    put(line, "span", "order", group.order);
    put(line, "span", "what", group.title);
    const rating = group.importance === null ? "no report" : `importance ${group.importance}`;
    put(line, "span", "where", ` · ${group.size} · ${rating}${group.rank ? ` · ★ ${group.rank}` : ""}`);
    item.addEventListener("pointerenter", () => light(group));
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
function showGroup(card, group) {
  card.replaceChildren();
  put(card, "h2", "", group.title);
  const drawn = group.members.length < group.size ? `, ${group.members.length} drawn` : "";
  const rating = group.importance === null ? "" : ` · importance ${group.importance} of 10`;
  put(card, "div", "where", `level ${group.level + 1} of ${deepest + 1} · ${counted(group.size, "member")}${drawn}${rating}`);
  put(card, "div", "said", group.summary || "This community has no report.");
  for (const [summary, explanation, chunks] of group.findings) {
    // In a report made by rules the only finding is the summary itself.
    if (summary !== group.summary) put(card, "h3", "", summary);
    if (explanation) put(card, "div", "said", explanation);
    const items = put(card, "div", "rests", "");
    for (const chunk of chunks) {
      const [section, text] = graph.passages[chunk];
      const passage = put(items, "details", "", "");
      put(passage, "summary", "", `passage ${chunk + 1}, ${titled(section)}`);
      put(passage, "div", "said", text.trim());
    }
  }
  names(card, "Members", group.members);
  const relatives = [...(group.parent >= 0 ? [groups[group.parent]] : []), ...groups.filter((other) => other.parent === group.place)];
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

// The table: the figures that are shown, or those that match the search.
const columns = [
  ["name", (figure) => figure.name.toLocaleLowerCase(), 1, "Sort by name"],
  ["type", (figure) => figure.type, 1, "Sort by type"],
  ["mentions", (figure) => figure.now, -1, "Sort by how often each is mentioned in these sections"],
  ["first", first, 1, "Sort by the number of the section in which each is first mentioned"],
  ["last", last, -1, "Sort by the number of the section in which each is last mentioned"],
];
let sorted = 2, direction = -1, rows = [];
const headings = columns.map(([name, , start, title], number) => {
  const cell = put(document.querySelector("thead tr"), "th", "", "");
  cell.scope = "col";
  button(cell, "", name, () => {
    direction = sorted === number ? -direction : start;
    sorted = number;
    list();
  }).title = title;
  return cell;
});
const searchable = figures.map((figure) =>
  foldText([figure.name, ...figure.names.map(([form]) => form)].join("\n")) + "\n" + foldText(figure.text));
function list() {
  const query = foldText(words.trim());
  const isMatch = (figure) => query && searchable[figure.number].includes(query);
  rows = figures.filter((figure) => (query ? isMatch(figure) : figure.shown && figure.now));
  for (const figure of figures) figure.element.classList.toggle("match", Boolean(isMatch(figure)));
  const value = columns[sorted][1];
  rows.sort((figure, other) => {
    const [a, b] = [value(figure), value(other)];
    return (a < b ? -direction : a > b ? direction : 0) || other.now - figure.now || figure.number - other.number;
  });
  headings.forEach((cell, number) => {
    if (number === sorted) cell.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    else cell.removeAttribute("aria-sort");
  });
  const body = document.querySelector("tbody");
  body.replaceChildren(...rows.map((figure) => {
    const row = document.createElement("tr");
    row.classList.toggle("pin", pin === figure);
    const name = button(put(row, "td", "", ""), "dot", figure.name, () => select(pin === figure ? null : figure));
    tint(name, figure);
    name.title = figure.group ? `${figure.name}: ${figure.group.order} ${figure.group.title}` : figure.name;
    if (figure.group) name.prepend(put(name, "span", "order", figure.group.order));
    name.setAttribute("aria-pressed", String(pin === figure));
    put(row, "td", "", figure.type).title = figure.type;
    put(row, "td", "", figure.now.toLocaleString("en"));
    for (const section of [first(figure), last(figure)]) put(row, "td", "", section + 1).title = titled(section);
    return row;
  }));
  const shownRelations = relations.filter((relation) => relation.shown).length;
  get("count").textContent = query ? `${rows.length || "Nobody"} found` : `${rows.length} shown, ${counted(shownRelations, "tie")}`;
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

// The controls: sections, and how many figures of which types.
function show(section, alone) {
  to = section;
  get("to").value = section + 1;
  get("alone").checked = alone;
  from = alone ? section : 0;
  get("section").textContent = !alone && section === finale ? "the end" : titled(section);
  get("section").title = titled(section);
  choose();
  light(pin);
}
get("to").max = graph.sections.length;
get("to").addEventListener("input", () => show(get("to").value - 1, get("alone").checked));
get("alone").addEventListener("change", () => show(to, get("alone").checked));
get("talk").hidden = !relations.some((relation) => relation.quotations.length);
get("speaks").addEventListener("change", () => {
  speaks = get("speaks").checked;
  choose();
});
const many = () => {
  const there = figures.filter((figure) => on.has(figure.type)).length;
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

// The figures that the question's mode visited.
if (graph.question) {
  get("asked").hidden = false;
  get("question").textContent = graph.question;
  const none = `Mode ${graph.mode} visited none of these. The modes hippo, fast, light, mini and local go through the network, from the entities that a question names.`;
  get("how").textContent = walked.size ? `Mode ${graph.mode} visited ${walked.size} of these, best first:` : none;
  const reports = groups.filter((group) => group.rank).sort((a, b) => a.rank - b.rank);
  if (reports.length) {
    get("how").textContent = `Mode ${graph.mode} found the reports of ${communities(reports.length)}, best first:`;
    level = reports[0].level;
    get("level").value = level + 1;
  }
  for (const group of reports) {
    const item = button(put(get("walked"), "li", "", ""), "", group.title, () => goTo(group));
    item.style.setProperty("--hue", hueOf(group));
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
