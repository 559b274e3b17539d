// What every screen has: keys, and words for whoever listens instead of looking.

const question = document.querySelector("#question");
const keys = document.querySelector("#keys");

/** Tells a screen reader that something is done; a problem, at once. */
export function tell(text, { wrong = false } = {}) {
  const place = document.querySelector(wrong ? "#wrong" : "#told");
  place.textContent = "";
  requestAnimationFrame(() => { place.textContent = text; });
}

/** An element with a class and children; texts are never taken for markup. */
export function make(name, kind = "", ...children) {
  const one = document.createElement(name);
  if (kind) one.className = kind;
  one.append(...children);
  return one;
}

/** A page, or a part of one, that came as text. */
export function parse(text) {
  return new DOMParser().parseFromString(text, "text/html");
}

/** The part of a page at an address; an Error where there is none. */
export async function fetchPart(url, options) {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(`The page can't be drawn (${response.status}).`);
  return parse(await response.text());
}

/** Who is signed in, as the server calls them; "" on pages that do not say. */
const caller = document.body.dataset.caller ?? "";

/** What this tab keeps for who is signed in; a browser that keeps nothing is no trouble. */
export const keep = {
  get(name) { try { return JSON.parse(sessionStorage.getItem(`${caller} ${name}`)); } catch { return null; } },
  set(name, value) { try { sessionStorage.setItem(`${caller} ${name}`, JSON.stringify(value)); } catch { /* full */ } },
  clear() { try { sessionStorage.clear(); } catch { /* it keeps nothing */ } },
};

// What was kept for somebody is deleted when they sign out, and when somebody else has signed in.
// The page to sign in is where a session that has ended leads.
if (location.pathname === "/signin") keep.clear();
if (caller && keep.get("caller") !== caller) {
  keep.clear();
  keep.set("caller", caller);
}
document.addEventListener("submit", (event) => {
  if (event.target.matches("form[action='/signout']")) keep.clear();
});

/** What the server draws of what the API said. */
export async function drawPart(url, body) {
  const page = await fetchPart(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return document.importNode(page.body, true).children;
}

/** Where this browser keeps that keys without Ctrl are off: who speaks to it would set them off. */
const KEYS_OFF = "fabula keys off";
const keySwitch = document.querySelector("#key-switch");
let areKeysOn = true;
try { areKeysOn = localStorage.getItem(KEYS_OFF) === null; } catch { /* it keeps nothing */ }
if (keySwitch) {
  keySwitch.checked = areKeysOn;
  keySwitch.addEventListener("change", () => {
    areKeysOn = keySwitch.checked;
    try {
      if (areKeysOn) localStorage.removeItem(KEYS_OFF);
      else localStorage.setItem(KEYS_OFF, "1");
    } catch { /* it holds for this page alone */ }
    tell(areKeysOn ? "Keys are on" : "Keys are off");
  });
}

/** Whether keys are meant for the page: they are on, and nobody is writing. */
export function isFree(event) {
  const at = event.target;
  return areKeysOn && !(event.ctrlKey || event.metaKey || event.altKey || keys?.open)
    && !(at instanceof Element && at.closest("input:not([type=checkbox]), textarea, select, [contenteditable]"));
}

document.querySelector("#show-keys")?.addEventListener("click", () => keys.showModal());

function toQuestion() {
  if (!question) return;
  question.focus();
  question.select();
}

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey) {
    event.preventDefault();
    toQuestion();
  } else if (event.key === "Escape" && document.activeElement === question) {
    question.blur();
  } else if (event.key === "/" && isFree(event)) {
    event.preventDefault();
    toQuestion();
  } else if (event.key === "?" && isFree(event)) {
    event.preventDefault();
    keys.showModal();
  }
});

document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll("details.switch[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
});

// What takes long says so in its button until the next page is there.
const waiting = new Map();
document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button?.dataset.waiting || waiting.has(button)) return;
  waiting.set(button, button.textContent);
  button.textContent = button.dataset.waiting;
  tell(button.dataset.waiting);
});
addEventListener("pageshow", () => {
  for (const [button, words] of waiting) button.textContent = words;
  waiting.clear();
});

// What the server does for those without scripts, scripts do themselves.
for (const plain of document.querySelectorAll("input[name=plain]")) plain.remove();
