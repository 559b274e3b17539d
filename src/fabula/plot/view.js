// The picture in its stage: what there is to see, zoomed and moved. page.html puts all scripts in one.

// graph: question, mode, hits [[node, score]...], and nodes [{kind, what, where, text, band, level,
// over: [[member, weight]...]}], whose elements are #n and the place in the list. Of a band that
// it is in none, a node says -1; of what is no membership, a weight is null.
const graph = JSON.parse(document.getElementById("graph").textContent);
const get = (id) => document.getElementById(id);
const svg = document.querySelector("svg.picture");
const stage = get("stage"), view = get("view"), tip = get("tip");
const nodes = graph.nodes;
const elements = nodes.map((_, number) => get("n" + number));
const book = get("book");
const down = (element) => element.transform.baseVal[0].matrix.f;
const bands = [...svg.querySelectorAll(".band")].map((element) => ({
  element, on: true, top: down(element), strip: +element.querySelector(".strip").getAttribute("y"),
}));
bands.forEach((band, number) => { band.step = down(bands[number + 1]?.element ?? book) - band.top; });
const over = nodes.map(() => []);
nodes.forEach((node, number) => node.over.forEach(([member, weight]) => over[member].push([number, weight])));
const rank = new Map(graph.hits.map(([number], place) => [number, place + 1]));
document.documentElement.classList.add("scripted");

// The view: where the picture stands in the stage, and how large.
const whole = { width: +svg.getAttribute("width"), height: +svg.getAttribute("height") };
for (const name of ["viewBox", "width", "height"]) svg.removeAttribute(name);
let at = { x: 0, y: 0, scale: 1 }, due = false, line = down(book);
const fitted = () => stage.clientWidth / whole.width;
function show() {
  const width = whole.width * at.scale, height = whole.height * at.scale, edge = 80;
  at.x = Math.min(Math.max(at.x, edge - width), stage.clientWidth - edge);
  at.y = Math.min(Math.max(at.y, edge - height), stage.clientHeight - edge);
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    view.setAttribute("transform", `translate(${at.x} ${at.y}) scale(${at.scale})`);
    // The text stays in sight: its line waits at the foot of the stage for those above it.
    const foot = whole.height - line;
    const lowest = (stage.clientHeight - at.y) / at.scale - foot;
    const y = foot * at.scale < stage.clientHeight / 3 ? Math.min(line, lowest) : line;
    book.setAttribute("transform", `translate(0 ${y})`);
  });
}
function reset() {
  const scale = fitted();
  const spare = stage.clientHeight - whole.height * scale;
  at = { x: 0, y: Math.max(spare / 2, 0), scale };
  show();
}
function zoom(by, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  const scale = Math.min(Math.max(at.scale * by, fitted() * 0.4), fitted() * 60);
  const grown = scale / at.scale;
  at = { x: x - (x - at.x) * grown, y: y - (y - at.y) * grown, scale };
  show();
}
function move(x, y) { at.x += x; at.y += y; show(); }
function reveal(element) {
  const box = element.getBoundingClientRect(), frame = stage.getBoundingClientRect();
  const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  const off = x < frame.left + 30 || x > frame.right - 30 || y < frame.top + 30 || y > frame.bottom - 30;
  if (off) move((frame.left + frame.right) / 2 - x, (frame.top + frame.bottom) / 2 - y);
}
stage.addEventListener("wheel", (event) => {
  event.preventDefault();
  hide();
  const step = event.deltaMode === 1 ? 30 : 1;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    return move(-(event.deltaX || event.deltaY) * step, 0);
  }
  const frame = stage.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * step * 0.0016), event.clientX - frame.left, event.clientY - frame.top);
}, { passive: false });

const fingers = new Map();
let dragged = false;
stage.addEventListener("pointerdown", (event) => {
  if (event.button) return;
  if (!fingers.size) dragged = false;
  fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
});
window.addEventListener("pointermove", (event) => {
  const was = fingers.get(event.pointerId);
  if (!was) return;
  const x = event.clientX - was.x, y = event.clientY - was.y;
  if (!dragged && Math.hypot(x, y) < 4) return;
  dragged = true;
  hide();
  stage.classList.add("dragged");
  const others = [...fingers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
  fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  if (!others.length) return move(x, y);
  const far = (one) => Math.max(Math.hypot(one.x - others[0].x, one.y - others[0].y), 1);
  const frame = stage.getBoundingClientRect();
  zoom(far(fingers.get(event.pointerId)) / far(was), others[0].x - frame.left, others[0].y - frame.top);
});
for (const name of ["pointerup", "pointercancel"]) {
  window.addEventListener(name, (event) => {
    fingers.delete(event.pointerId);
    if (!fingers.size) stage.classList.remove("dragged");
  });
}
get("in").addEventListener("click", () => zoom(1.5));
get("out").addEventListener("click", () => zoom(1 / 1.5));
get("reset").addEventListener("click", reset);
new ResizeObserver(reset).observe(stage);
