// Shared by all screens: keyboard shortcuts, and announcements for screen readers.

const question = document.querySelector("#question");
const keys = document.querySelector("#keys");

/** Announce a message to screen readers; an error interrupts them. */
export function tell(text, { isError = false } = {}) {
  const place = document.querySelector(isError ? "#alert" : "#status");
  place.textContent = "";
  requestAnimationFrame(() => { place.textContent = text; });
}

/** Create an element with a class and children; texts are never parsed as HTML. */
export function make(name, kind = "", ...children) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  element.append(...children);
  return element;
}

/** Parse a page, or a part of one. */
export function parse(text) {
  return new DOMParser().parseFromString(text, "text/html");
}

/** Create the elements of a part of a page. */
export function makePart(html) {
  return document.importNode(parse(html).body, true).children;
}

/** Fetch a part of a page. Throws an Error for an error status. */
export async function fetchPart(url, options) {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(`The page can't be displayed (status ${response.status}).`);
  return parse(await response.text());
}

/** A digest of the id of the signed-in caller; "" on pages that do not have it. */
const caller = document.body.dataset.caller ?? "";

/** The tab's storage for the signed-in caller; a browser without storage is supported. */
export const keep = {
  get(name) { try { return JSON.parse(sessionStorage.getItem(`${caller} ${name}`)); } catch { return null; } },
  set(name, value) { try { sessionStorage.setItem(`${caller} ${name}`, JSON.stringify(value)); } catch { /* full */ } },
  clear() { try { sessionStorage.clear(); } catch { /* no storage */ } },
};

/** The caller's bookmarks: up to which character a book was read. They stay in this browser. */
export const bookmarks = {
  key: (collection, document) => `${caller} bookmark ${collection}/${document}`,
  get(collection, document) {
    try {
      const place = JSON.parse(localStorage.getItem(this.key(collection, document)));
      return Number.isInteger(place?.until) && place.until >= 0 ? place : null;
    } catch { return null; }
  },
  set(collection, document, place) {
    try { localStorage.setItem(this.key(collection, document), JSON.stringify(place)); } catch { /* full */ }
  },
  clear(collection, document) {
    try { localStorage.removeItem(this.key(collection, document)); } catch { /* no storage */ }
  },
  any(collection) {
    try { return Object.keys(localStorage).some((key) => key.startsWith(this.key(collection, ""))); } catch { return false; }
  },
};

/** The book of a collection that was read last, in this browser. */
export const reading = {
  get(collection) { try { return localStorage.getItem(`${caller} reading ${collection}`); } catch { return null; } },
  set(collection, document) { try { localStorage.setItem(`${caller} reading ${collection}`, document); } catch { /* full */ } },
};
const readOn = document.querySelector("#read-on");
if (readOn) {
  const book = reading.get(readOn.dataset.collection);
  if (book) readOn.firstChild.href += book;
  readOn.hidden = !book;
}

/** Fill in the reader's bookmark in the book that is chosen in a form, and say so.

`whole` and `isWhole` are the button for the whole book, and what is said once it is pressed. */
export function followBookmark(form, collection, whole = "Ask the whole book", isWhole = "The whole book is asked, to its end.") {
  const noted = document.querySelector("#bookmarked");
  const until = form.elements.until;
  function show() {
    const chosen = form.elements.document?.value;
    const place = chosen ? bookmarks.get(collection, chosen) : null;
    const filled = place ? String(place.until) : "";
    // What the reader typed stays; what was filled in for another book does not.
    if (!until.value || until.value === until.dataset.filled) until.value = filled;
    until.dataset.filled = filled;
    noted.hidden = !place;
    if (!place) return;
    const button = make("button", "plain", whole);
    button.type = "button";
    button.addEventListener("click", () => {
      until.value = until.dataset.filled = "100%";
      noted.textContent = isWhole;
    });
    noted.replaceChildren("Your bookmark is in ", make("bdi", "", place.name), ": nothing that comes later is used. ", button);
    if (until.value !== String(place.until)) noted.hidden = true;
  }
  show();
  form.elements.document?.addEventListener("change", show);
}

/** Limit a question to what was read of its book, unless its address has a place; say what is not. */
export function keepToBookmark(options, result) {
  if (options.document && !options.until) {
    const place = bookmarks.get(result.dataset.collection, options.document);
    if (place) options.until = String(place.until);
  } else if (options.question && !options.document && bookmarks.any(result.dataset.collection)) {
    // A place in one book is none in others, so all of each is asked.
    result.before(make("p", "note", "All books are asked to their ends. Choose the book with your bookmark to be told nothing that comes later."));
  }
}

// The storage is cleared when the caller signs out, when another caller has signed in, and on the
// sign-in page, to which a session that has ended leads.
if (location.pathname.endsWith("/signin")) keep.clear();
if (caller && keep.get("caller") !== caller) {
  keep.clear();
  keep.set("caller", caller);
}
document.addEventListener("submit", (event) => {
  if (event.target.matches("form[action$='/signout']")) keep.clear();
});

/** Key of the stored choice to turn single-key shortcuts off, which speech input would trigger. */
const KEYS_OFF = "fabula keys off";
const keySwitch = document.querySelector("#key-switch");
let areKeysOn = true;
try { areKeysOn = localStorage.getItem(KEYS_OFF) === null; } catch { /* no storage */ }
if (keySwitch) {
  keySwitch.checked = areKeysOn;
  keySwitch.addEventListener("change", () => {
    areKeysOn = keySwitch.checked;
    try {
      if (areKeysOn) localStorage.removeItem(KEYS_OFF);
      else localStorage.setItem(KEYS_OFF, "1");
    } catch { /* the choice holds for this page alone */ }
    tell(areKeysOn ? "Shortcuts are on" : "Shortcuts are off");
  });
}

/** Whether a key is a shortcut: shortcuts are on, and no text field has the focus. */
export function isFree(event) {
  const at = event.target;
  return areKeysOn && !(event.ctrlKey || event.metaKey || event.altKey || keys?.open)
    && !(at instanceof Element && at.closest("input:not([type=checkbox]), textarea, select, [contenteditable]"));
}

document.querySelector("#show-keys")?.addEventListener("click", () => keys.showModal());

function toQuestion() {
  if (question?.checkVisibility()) {
    question.focus();
    question.select();
  } else {
    // A narrow window has no field in its head: the screen to ask on has one.
    document.querySelector(".top nav a[href$='/ask']")?.click();
  }
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

// A button of a slow form says that it is waiting, until the next page is shown.
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

// On a narrow screen the links to the screens are a line that scrolls: the current one is seen.
document.querySelector(".top nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

// `plain` asks the server to put answers into the page, which scripts fetch themselves.
for (const plain of document.querySelectorAll("input[name=plain]")) plain.remove();
