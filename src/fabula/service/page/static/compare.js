// Comparing: two to four modes, asked at the same time; each answer is drawn when it arrives.

import { followBookmark, keep, keepToBookmark, make, makePart, tell } from "./shell.js";
import { readStream } from "./stream.js";

const form = document.querySelector("form.question");
const boxes = [...form.querySelectorAll("input[name=modes]")];
const result = document.querySelector("#result");
const comparison = JSON.parse(result.dataset.comparison);
if (comparison) keepToBookmark(comparison, result);
followBookmark(form, result.dataset.collection);
/** The key has the collection's version: after a change of the collection the modes are asked again. */
const key = `drawn comparison ${result.dataset.version} ${location.pathname} ${JSON.stringify(comparison)}`;

function limitChoice() {
  const chosen = boxes.filter((box) => box.checked);
  for (const box of boxes) box.disabled = !box.checked && chosen.length >= 4;
  boxes[0]?.setCustomValidity(chosen.length < 2 ? "Choose at least two modes." : "");
}
form.addEventListener("change", limitChoice);
limitChoice();

function show(html) {
  result.replaceChildren(...makePart(html));
}

async function compare() {
  for await (const [name, data] of readStream(result.dataset.stream, comparison)) {
    if (name === "error") {
      for (const waiting of result.querySelectorAll(".waiting")) waiting.remove();
      result.prepend(make("p", "note bad", data.detail));
      tell(data.detail, { isError: true });
      return;
    }
    show(data.html);
    if (data.is_complete) {
      if (data.is_answered) keep.set(key, data.html);
      tell("All modes have answered.");
      return;
    }
  }
}

if (comparison && !result.childElementCount) {
  const cached = keep.get(key);
  if (cached) {
    show(cached);
  } else {
    result.setAttribute("aria-busy", "true");
    compare().finally(() => result.removeAttribute("aria-busy"));
  }
}
