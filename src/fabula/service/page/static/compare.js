// Comparing: two to four modes, which are asked at once and drawn as each has answered.

import { drawPart, keep, tell } from "./shell.js";

const form = document.querySelector("form.question");
const boxes = [...form.querySelectorAll("input[name=modes]")];
const result = document.querySelector("#result");
const asked = JSON.parse(result.dataset.asked);
/** Answers are kept for the collection as it is: once that has changed, they are asked anew. */
const key = `compared ${result.dataset.version} ${location.pathname} ${JSON.stringify(asked)}`;

function bound() {
  const chosen = boxes.filter((one) => one.checked);
  for (const one of boxes) one.disabled = !one.checked && chosen.length >= 4;
  boxes[0]?.setCustomValidity(chosen.length < 2 ? "Choose at least two." : "");
}
form.addEventListener("change", bound);
bound();

/** One mode's answer, or why there is none. */
async function ask(mode) {
  const { modes, ...question } = asked;
  try {
    const response = await fetch(result.dataset.api, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...question, mode }),
    });
    const told = await response.json();
    return response.ok ? { mode, answer: told } : { mode, problem: told };
  } catch {
    return { mode, problem: { detail: "The service can't be reached: is it still running?" } };
  }
}

async function draw(answers) {
  result.replaceChildren(...await drawPart(result.dataset.draw, { answers }));
}

async function compare() {
  const answers = asked.modes.map((mode) => ({ mode }));
  let drawn = draw(answers);
  await Promise.all(asked.modes.map(async (mode, place) => {
    answers[place] = await ask(mode);
    // One after the other: the last one drawn has them all.
    drawn = drawn.catch(() => {}).then(() => draw(answers));
    await drawn;
  }));
  if (answers.every((one) => one.answer)) keep.set(key, answers);
  tell("All have answered.");
}

if (asked && !result.childElementCount) {
  const had = keep.get(key);
  result.setAttribute("aria-busy", "true");
  (had ? draw(had).catch(compare) : compare())
    .catch((error) => tell(error.message, { wrong: true }))
    .finally(() => result.removeAttribute("aria-busy"));
}
