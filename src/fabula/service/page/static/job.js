// A job's progress: the service sends events, and this script replaces the parts that changed.

import { fetchPart, tell } from "./shell.js";

const job = document.querySelector("#job");
const RETRY_MS = 2000;
const TIMEOUT_MS = 10000;
let isDrawing = false;
let isStale = false;

const state = () => job.querySelector("#state");

/** Replace the parts that changed; the keyboard focus stays, if its element is still there. */
async function draw() {
  isStale = true;
  if (isDrawing) return;
  isDrawing = true;
  try {
    while (isStale) {
      isStale = false;
      // A request to a service that is stopping may never be answered, and would hold up all later ones.
      const page = await fetchPart(job.dataset.part, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      for (const part of page.querySelectorAll("[data-part]")) {
        const place = job.querySelector(`:scope > [data-part=${part.dataset.part}]`);
        if (!place || place.isEqualNode(part)) continue;
        const hadFocus = place.contains(document.activeElement);
        place.replaceWith(document.importNode(part, true));
        if (hadFocus) job.querySelector("[data-part=actions] :is(button, a)")?.focus();
      }
    }
  } catch {
    // The service is not available: try again as long as the job is not over.
    if (!("over" in state().dataset)) setTimeout(draw, RETRY_MS);
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
    // A browser reconnects by itself to a stream that was interrupted, but not to one that was refused.
    if (stream.readyState !== EventSource.CLOSED) return;
    setTimeout(watch, RETRY_MS);
  });
}

if (!("over" in state().dataset)) watch();
