// Streams: the server sends parts of a page as they get known.

import { parse } from "./shell.js";

/** Ask for a stream, and yield its events: a name and its data.

Whoever reads it returns at the event that is the last: what ends it before is an event "error". */
export async function* readStream(url, body, signal) {
  let reader;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
    if (!response.ok) {
      const detail = parse(await response.text()).querySelector(".lead")?.textContent;
      yield ["error", { detail: detail ?? `The service returned no answer (status ${response.status}).` }];
      return;
    }
    reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let waiting = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      waiting += value;
      const events = waiting.split("\n\n");
      waiting = events.pop();
      for (const event of events) {
        const fields = Object.fromEntries(event.split("\n").map((line) => line.split(/: (.*)/s)));
        if (fields.event) yield [fields.event, JSON.parse(fields.data)];
      }
    }
    yield ["error", { detail: "The answer ended too early: ask again." }];
  } catch (error) {
    if (error.name === "AbortError") throw error;
    yield ["error", { detail: "The service can't be reached: is it still running?" }];
  } finally {
    reader?.cancel().catch(() => {}); // The rest of the stream is not needed.
  }
}
