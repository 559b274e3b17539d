// Asking: the answer is shown while it is written, and kept while the tab is open.

import { bookmarks, followBookmark, isFree, keep, keepToBookmark, make, makePart, tell } from "./shell.js";
import { readStream } from "./stream.js";

const result = document.querySelector("#result");
const form = document.querySelector("form.question");
const next = document.querySelector("form.follow-up");
/** The conversation that the question is part of; "new" begins one. */
const isVisitor = "visitor" in document.body.dataset;
let conversation = isVisitor ? null : "new";
const options = JSON.parse(result.dataset.question);
keepToBookmark(options, result);
// The examples name people of whole books, of whom a reader with a bookmark may not know yet.
const examples = document.querySelector("#examples");
if (examples && bookmarks.any(result.dataset.collection)) examples.hidden = true;
/** The key has the collection's version: after a change of the collection the question is asked again. */
const key = `drawn answer ${result.dataset.version} ${location.pathname} ${JSON.stringify(options)}`;

function show(answer) {
  result.replaceChildren(...makePart(answer.html));
  result.removeAttribute("aria-busy");
  if (next) next.hidden = false;
  conversation = answer.conversation ?? conversation;
  // In a conversation the question is now one of its turns, and no longer part of the address.
  if (options.conversation) history.replaceState(null, "", `?conversation=${conversation}`);
}

/** Show an error; text that was already written stays, as it is paid for and may be useful. */
function refuse(detail) {
  const note = make("p", "note bad", detail);
  note.dir = "auto";
  const writing = result.querySelector(".writing");
  if (writing?.querySelector(".streamed")?.textContent) {
    writing.querySelector("button")?.remove();
    writing.querySelector(".doing").textContent = "The answer until then:";
  } else {
    writing?.remove();
  }
  result.prepend(note);
  result.removeAttribute("aria-busy");
  tell(detail, { isError: true });
}

async function ask() {
  const stopping = new AbortController();
  result.replaceChildren(document.querySelector("#writing").content.cloneNode(true));
  result.setAttribute("aria-busy", "true");
  const [doing, steps, text, stop] = result.querySelectorAll(".doing, .steps, .streamed, button");
  stop.addEventListener("click", () => stopping.abort());
  try {
    for await (const [name, data] of readStream(result.dataset.stream, { conversation, ...options }, stopping.signal)) {
      doing.textContent = data.doing ?? "Writing …";
      if (name === "passages") result.querySelector(".answered").append(...makePart(data.html));
      else if (name === "step") steps.append(...makePart(data.html));
      else if (name === "token") text.append(data.text);
      else if (name === "answer") {
        keep.set(key, data);
        show(data);
        tell(result.querySelector(".answered").dataset.complete);
        return;
      } else if (name === "error") {
        refuse(data.detail);
        return;
      }
    }
  } catch (error) {
    if (error.name !== "AbortError") throw error;
    doing.textContent = "Stopped.";
    stop.remove();
    result.removeAttribute("aria-busy");
  }
}

if (form) followBookmark(form, result.dataset.collection);

// Leave out empty fields, so that the address of a question is short.
form?.addEventListener("submit", () => {
  for (const field of form.elements) {
    if (field.name && field.name !== "q" && !field.value) field.disabled = true;
  }
});
addEventListener("pageshow", () => { for (const field of form?.elements ?? []) field.disabled = false; });

// A follow-up question is asked on the page of its conversation.
next?.addEventListener("submit", (event) => {
  const fields = new FormData(next);
  const id = fields.get("conversation") ?? conversation;
  if (id === "new") return; // The server begins a conversation.
  event.preventDefault();
  fields.delete("first");
  fields.set("conversation", id);
  location.assign(`${next.action}?${new URLSearchParams(fields)}`);
});

const cached = options.question && keep.get(key);
if (options.question && !result.querySelector(".answered")) {
  if (cached) show(cached);
  else ask();
}

// A citation highlights its card, and a click on it goes there

const card = (number) => document.getElementById(`card-${number}`);
function light(event, on) {
  const cite = event.target.closest?.("a.cite[data-card]");
  if (cite) card(cite.dataset.card)?.classList.toggle("lit", on);
}
for (const [name, on] of [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]]) {
  result.addEventListener(name, (event) => light(event, on));
}
function goTo(number) {
  const target = card(number);
  if (!target) return;
  const folded = target.closest("details");
  if (folded) folded.open = true;
  target.scrollIntoView({ block: "nearest" });
  target.querySelector("a").focus();
}
document.querySelector("main").addEventListener("click", async (event) => {
  const cite = event.target.closest("a.cite[data-card]");
  if (cite) {
    event.preventDefault();
    goTo(cite.dataset.card);
  }
  const copy = event.target.closest("button.copy");
  if (copy) {
    const source = document.querySelector(copy.dataset.from);
    try {
      await navigator.clipboard.writeText(source.value);
      tell("The answer was copied with its citations.");
      copy.textContent = "Copied";
    } catch {
      source.closest("details").open = true;
      source.select();
    }
  }
  const thumb = event.target.closest(".thumbs button");
  if (thumb) {
    const turn = thumb.closest(".thumbs").dataset.turn;
    const response = await fetch(`${result.dataset.turns}/${encodeURIComponent(turn)}/feedback`, {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ value: Number(thumb.dataset.value) }),
    });
    if (response.ok) {
      for (const button of thumb.parentElement.children) button.setAttribute("aria-pressed", button === thumb);
      tell("Thank you.");
    } else {
      tell("The rating could not be saved.", { isError: true });
    }
  }
});
document.addEventListener("keydown", (event) => {
  if (/^[1-9]$/.test(event.key) && isFree(event)) goTo(event.key);
});
