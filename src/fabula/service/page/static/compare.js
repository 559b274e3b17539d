// Comparing: two to four modes, asked at the same time; each answer is drawn when it arrives.

import { drawPart, followBookmark, keep, keepToBookmark, tell } from "./shell.js";

const form = document.querySelector("form.question");
const boxes = [...form.querySelectorAll("input[name=modes]")];
const result = document.querySelector("#result");
const comparison = JSON.parse(result.dataset.comparison);
if (comparison) keepToBookmark(comparison, result);
followBookmark(form, result.dataset.collection);
/** The key has the collection's version: after a change of the collection the modes are asked again. */
const key = `compared ${result.dataset.version} ${location.pathname} ${JSON.stringify(comparison)}`;

function limitChoice() {
  const chosen = boxes.filter((box) => box.checked);
  for (const box of boxes) box.disabled = !box.checked && chosen.length >= 4;
  boxes[0]?.setCustomValidity(chosen.length < 2 ? "Choose at least two modes." : "");
}
form.addEventListener("change", limitChoice);
limitChoice();

/** Return the answer of a mode, or the problem. */
async function ask(mode) {
  const { modes, ...question } = comparison;
  try {
    const response = await fetch(result.dataset.api, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...question, mode }),
    });
    const reply = await response.json();
    return response.ok ? { mode, answer: reply } : { mode, problem: reply };
  } catch {
    return { mode, problem: { detail: "The service can't be reached: is it still running?" } };
  }
}

async function draw(answers) {
  result.replaceChildren(...await drawPart(result.dataset.draw, { answers }));
}

async function compare() {
  const answers = comparison.modes.map((mode) => ({ mode }));
  let drawn = draw(answers);
  await Promise.all(comparison.modes.map(async (mode, place) => {
    answers[place] = await ask(mode);
    // Drawn one after the other, so that the last drawing has all answers.
    drawn = drawn.catch(() => {}).then(() => draw(answers));
    await drawn;
  }));
  if (answers.every((column) => column.answer)) keep.set(key, answers);
  tell("All modes have answered.");
}

if (comparison && !result.childElementCount) {
  const cached = keep.get(key);
  result.setAttribute("aria-busy", "true");
  (cached ? draw(cached).catch(compare) : compare())
    .catch((error) => tell(error.message, { isError: true }))
    .finally(() => result.removeAttribute("aria-busy"));
}
