// Asking: the answer comes as it is written, and is kept for as long as the tab is open.

import { drawPart, isFree, keep, make, tell } from "./shell.js";

const result = document.querySelector("#result");
const form = document.querySelector("form.question");
const next = document.querySelector("form.go-on");
/** What is asked leans on it, and is kept in it; a first question begins one. */
let conversation = "new";
const given = JSON.parse(result.dataset.given);
/** An answer is kept for the collection as it is: once that has changed, it is asked anew. */
const key = `answer ${result.dataset.version} ${location.pathname} ${JSON.stringify(given)}`;

/** The part of a page that the server draws of what the API said. */
const draw = (what, body) => drawPart(`${result.dataset.draw}/${what}`, body);

/** The events of a stream: a name and its data. */
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
        const name = lines.find((one) => one.startsWith("event: "))?.slice(7);
        const data = lines.filter((one) => one.startsWith("data: ")).map((one) => one.slice(6)).join("\n");
        if (name) yield [name, JSON.parse(data)];
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // Whoever has read enough ends it.
  }
}

async function show(answer) {
  result.replaceChildren(...await draw("answer", answer));
  result.removeAttribute("aria-busy");
  next.hidden = false;
  conversation = answer.conversation ?? conversation;
  // Where its questions stand already, this one is from now on one of them.
  if (given.conversation) history.replaceState(null, "", `?conversation=${conversation}`);
}

/** Say what went wrong, beside what was written by then: that is paid for, and may be of use. */
function refuse(detail) {
  const note = make("p", "note bad", detail);
  note.dir = "auto";
  const writing = result.querySelector(".writing");
  if (writing?.querySelector(".streamed")?.textContent) {
    writing.querySelector("button")?.remove();
    writing.querySelector(".quiet").textContent = "What was written until then:";
  } else {
    writing?.remove();
  }
  result.prepend(note);
  result.removeAttribute("aria-busy");
  tell(detail, { wrong: true });
}

async function ask() {
  const stopping = new AbortController();
  const text = make("p", "streamed");
  text.dir = "auto";
  const stop = make("button", "", "Stop");
  const note = make("p", "quiet small", "Looking for passages …");
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
      body: JSON.stringify({ conversation, ...given }),
      signal: stopping.signal,
    });
    if (!response.ok) {
      const problem = await response.json().catch(() => ({}));
      refuse(problem.detail ?? `The answer could not be had (${response.status}).`);
      return;
    }
    for await (const [name, data] of events(response.body)) {
      if (name === "retrieval") {
        note.textContent = `Found by ${data.mode} …`;
      } else if (name === "passages") {
        note.textContent = "Reading …";
        draw("passages", { question: given.question, context: data.context }).then((drawn) => {
          if (whole.isConnected) whole.append(...drawn);
        }, () => {});
      } else if (name === "token") {
        note.textContent = "Writing …";
        text.append(data.text);
      } else if (name === "answer") {
        keep.set(key, data);
        try {
          await show(data);
        } catch {
          text.textContent = data.answer;
          refuse("The answer is complete, but its page could not be drawn: load the page again.");
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
    refuse("The answer broke off: ask again.");
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

// A question's address, without what is only for those without scripts, and without what is empty.
form?.addEventListener("submit", () => {
  for (const one of form.elements) if (one.name && one.name !== "q" && !one.value) one.disabled = true;
});
addEventListener("pageshow", () => { for (const one of form?.elements ?? []) one.disabled = false; });

// What is asked next is asked on a page of its own, which has what was said before.
next?.addEventListener("submit", (event) => {
  const fields = new FormData(next);
  const talk = fields.get("conversation") ?? conversation;
  if (talk === "new") return; // Its server begins one.
  event.preventDefault();
  fields.delete("first");
  fields.set("conversation", talk);
  location.assign(`${next.action}?${new URLSearchParams(fields)}`);
});

const had = given.question && keep.get(key);
if (given.question && !result.querySelector(".answered")) {
  result.setAttribute("aria-busy", "true");
  if (had) show(had).catch(ask);
  else ask();
}

// Citations light their cards, and are gone on to from them

const card = (number) => document.getElementById(`card-${number}`);
function light(event, on) {
  const cite = event.target.closest?.("a.cite[data-card]");
  if (cite) card(cite.dataset.card)?.classList.toggle("lit", on);
}
for (const [name, on] of [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]]) {
  result.addEventListener(name, (event) => light(event, on));
}
function goTo(number) {
  const found = card(number);
  if (!found) return;
  const folded = found.closest("details");
  if (folded) folded.open = true;
  found.scrollIntoView({ block: "nearest" });
  found.querySelector("a").focus();
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
      tell("Copied, with its citations.");
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
      for (const one of thumb.parentElement.children) one.setAttribute("aria-pressed", one === thumb);
      tell("Thank you.");
    } else {
      tell("That could not be kept.", { wrong: true });
    }
  }
});
document.addEventListener("keydown", (event) => {
  if (/^[1-9]$/.test(event.key) && isFree(event)) goTo(event.key);
});
