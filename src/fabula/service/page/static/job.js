// A job as it goes on: told by the service, drawn by it, and put in place here.

import { fetchPart, tell } from "./shell.js";

const job = document.querySelector("#job");
const AGAIN = 2000;
const LONGEST = 10000;
let isDrawing = false;
let isStale = false;

const state = () => job.querySelector("#state");

/** Puts what has changed in its place; where one is stays, as far as it is still there. */
async function draw() {
  isStale = true;
  if (isDrawing) return;
  isDrawing = true;
  try {
    while (isStale) {
      isStale = false;
      // One that a service was asked for as it ended may never come, and would hold up all others.
      const page = await fetchPart(job.dataset.part, { signal: AbortSignal.timeout(LONGEST) });
      for (const part of page.querySelectorAll("[data-part]")) {
        const place = job.querySelector(`:scope > [data-part=${part.dataset.part}]`);
        if (!place || place.isEqualNode(part)) continue;
        const hadFocus = place.contains(document.activeElement);
        place.replaceWith(document.importNode(part, true));
        if (hadFocus) job.querySelector("[data-part=acts] :is(button, a)")?.focus();
      }
    }
  } catch {
    // The service is away, or has not told all: it is asked again as long as the job is not over.
    if (!("over" in state().dataset)) setTimeout(draw, AGAIN);
  } finally {
    isDrawing = false;
  }
}

function watch() {
  const stream = new EventSource(job.dataset.events);
  stream.addEventListener("snapshot", draw);
  stream.addEventListener("end", async () => {
    stream.close();
    await draw();
    document.title = document.title.replace(/: \w+/, `: ${state().dataset.state}`);
    tell(`${job.dataset.name}: ${state().textContent}`);
  });
  stream.addEventListener("error", () => {
    // A browser comes back by itself to a stream that broke off, not to one that was refused.
    if (stream.readyState !== EventSource.CLOSED) return;
    setTimeout(watch, AGAIN);
  });
}

if (!("over" in state().dataset)) watch();
