// Asking: the answer is shown while it is written, and kept while the tab is open.

import { bookmarks, drawPart, followBookmark, isFree, keep, keepToBookmark, make, tell } from "./shell.js";

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
const key = `answer ${result.dataset.version} ${location.pathname} ${JSON.stringify(options)}`;

/** Have the server draw a reply of the API. */
const draw = (what, body) => drawPart(`${result.dataset.draw}/${what}`, body);

/** Yield the events of a stream: a name and its data. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      waiting += value;
      const parts = waiting.split("\n\n");
      waiting = parts.pop();
      for (const part of parts) {
        const lines = part.split("\n");
        const name = lines.find((line) => line.startsWith("event: "))?.slice(7);
        const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
        if (name) yield [name, JSON.parse(data)];
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // The rest of the stream is not needed.
  }
}

async function show(answer) {
  result.replaceChildren(...await draw("answer", answer));
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
    writing.querySelector(".quiet").textContent = "The answer until then:";
  } else {
    writing?.remove();
  }
  result.prepend(note);
  result.removeAttribute("aria-busy");
  tell(detail, { isError: true });
}

async function ask() {
  const stopping = new AbortController();
  const text = make("p", "streamed");
  text.dir = "auto";
  const stop = make("button", "", "Stop");
  const note = make("p", "quiet small", "Searching for passages …");
  /** What a mode that searches on has done until now. */
  const steps = make("ol", "quiet small");
  steps.dir = "auto";
  const writing = make("section", "answer writing", note, text, stop);
  const whole = make("div", "answered", writing);
  result.replaceChildren(whole);
  result.setAttribute("aria-busy", "true");
  stop.type = "button";
  stop.addEventListener("click", () => stopping.abort());
  try {
    const response = await fetch(result.dataset.api, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify({ conversation, ...options }),
      signal: stopping.signal,
    });
    if (!response.ok) {
      const problem = await response.json().catch(() => ({}));
      refuse(problem.detail ?? `The service returned no answer (status ${response.status}).`);
      return;
    }
    for await (const [name, data] of events(response.body)) {
      if (name === "retrieval") {
        note.textContent = `Searched with ${data.mode} …`;
      } else if (name === "passages") {
        note.textContent = "Reading …";
        draw("passages", { question: options.question, context: data.context }).then((drawn) => {
          if (whole.isConnected) whole.append(...drawn);
        }, () => {});
      } else if (name === "step") {
        const found = data.hits.filter((hit) => hit.kept).length;
        note.textContent = `Reading on: ${data.step} …`;
        steps.append(make("li", "", `${data.step}: ${data.note.replace(`${data.step} `, "")}${found ? ` (${found} new)` : ""}`));
        if (!steps.isConnected) text.before(steps);
      } else if (name === "token") {
        note.textContent = "Writing …";
        text.append(data.text);
      } else if (name === "answer") {
        keep.set(key, data);
        try {
          await show(data);
        } catch {
          text.textContent = data.answer;
          refuse("The answer is complete, but it could not be displayed: reload the page.");
          return;
        }
        const cited = data.cited.length;
        tell(`Answer complete, ${cited} passage${cited === 1 ? "" : "s"} ${data.offline ? "quoted" : "cited"}.`);
        return;
      } else if (name === "error") {
        refuse((data.problem ?? data).detail);
        return;
      }
    }
    refuse("The answer ended too early: ask again.");
  } catch (error) {
    if (error.name === "AbortError") {
      note.textContent = "Stopped.";
      stop.remove();
      result.removeAttribute("aria-busy");
    } else {
      refuse("The service can't be reached: is it still running?");
    }
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
  result.setAttribute("aria-busy", "true");
  if (cached) show(cached).catch(ask);
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
    const turns = result.dataset.api.replace(/ask$/, "turns");
    const response = await fetch(`${turns}/${encodeURIComponent(turn)}/feedback`, {
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
