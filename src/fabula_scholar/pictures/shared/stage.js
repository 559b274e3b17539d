// The stage of every page, in which a picture is moved by wheel, drag and pinch, by buttons and keys.
const stage = get("stage");
const svg = document.querySelector("svg.picture");
const tip = get("tip");
// The script decides what the stage shows, and not the size of the picture.
document.documentElement.classList.add("scripted");
for (const name of ["viewBox", "width", "height"]) svg.removeAttribute(name);
// Put the tooltip below the pointer or, where there is no room, above it.
function placeTip(event) {
  const size = tip.getBoundingClientRect();
  const below = event.clientY + 18 + size.height < innerHeight;
  tip.style.left = Math.min(Math.max(event.clientX - size.width / 2, 8), innerWidth - size.width - 8) + "px";
  tip.style.top = Math.max(below ? event.clientY + 18 : event.clientY - 12 - size.height, 8) + "px";
}
const ARROWS = { ArrowLeft: [70, 0], ArrowRight: [-70, 0], ArrowUp: [0, 70], ArrowDown: [0, -70] };
const fingers = new Map();
let dragged = false;
// Connect a page's functions to the stage:
//   zoom(factor, x, y)  zooms, around a position in the stage if there is one
//   move(x, y)          moves the picture by pixels
//   fit()               shows the whole picture
//   hide()              hides what the pointer shows
//   turn(event, step)   may handle the wheel, and press(event) a key; true means that they did
function steer({ zoom, move, fit, hide, turn = () => false, press = () => false }) {
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    hide();
    const step = event.deltaMode === 1 ? 30 : 1;
    if (turn(event, step)) return;
    const frame = stage.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * step * 0.0016), event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });
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
    const far = (finger) => Math.max(Math.hypot(finger.x - others[0].x, finger.y - others[0].y), 1);
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
  get("reset").addEventListener("click", fit);
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (key === "+" || key === "=") zoom(1.3);
    else if (key === "-") zoom(1 / 1.3);
    else if (key === "0") fit();
    else if (!press(event)) {
      if (!ARROWS[key]) return;
      move(...ARROWS[key]);
    }
    event.preventDefault();
  });
}
