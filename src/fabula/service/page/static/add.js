// Adding: files and folders that are dropped, and how much of them has been sent.

import { parse, tell } from "./shell.js";

const form = document.querySelector("form.add");
const drop = form.querySelector(".drop");
const input = form.querySelector("#files");
const chosen = form.querySelector("#chosen");
const refused = form.querySelector("#refused");
const MOST_NAMED = 8;
/** Files that were dropped, by their paths: an input can't hold folders. */
let dropped = [];

function show() {
  const names = [...dropped.map(([, path]) => path), ...[...input.files].map((one) => one.name)];
  chosen.hidden = !names.length;
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  chosen.textContent = `${names.length} chosen: ${names.slice(0, MOST_NAMED).join(", ")}${more}`;
}

/** All files of what was dropped, through its folders; hidden ones are left out. */
async function* filesOf(entry, path = "") {
  if (entry.name.startsWith(".")) return;
  if (entry.isFile) {
    yield [await new Promise((done, failed) => entry.file(done, failed)), path + entry.name];
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const one of some) yield* filesOf(one, `${path}${entry.name}/`);
  }
}

for (const name of ["dragenter", "dragover"]) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
}
for (const name of ["dragleave", "drop"]) {
  drop.addEventListener(name, () => drop.classList.remove("over"));
}
drop.addEventListener("drop", async (event) => {
  event.preventDefault();
  // Read before the first wait: what was dropped is gone after the event.
  const entries = [...event.dataTransfer.items].map((one) => one.webkitGetAsEntry()).filter(Boolean);
  const files = [...event.dataTransfer.files];
  if (!entries.length) dropped.push(...files.map((one) => [one, one.name]));
  for (const entry of entries) for await (const one of filesOf(entry)) dropped.push(one);
  show();
  tell(`${dropped.length} files chosen`);
});
input.addEventListener("change", show);

function refuse(words) {
  form.querySelector("button.main").disabled = false;
  form.querySelector("#sending").hidden = true;
  refused.textContent = words;
  refused.hidden = false;
  tell(words, { wrong: true });
}

/** What a refusal says: the page that says it has it in words. */
function wordsOf(request) {
  const page = parse(request.responseText);
  return page.querySelector("main .lead")?.textContent || `It was refused (${request.status}).`;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  refused.hidden = true;
  const most = Number(form.dataset.most);
  const count = dropped.length + input.files.length;
  if (count > most) {
    // The service could only refuse once it had been sent that many.
    refuse(`${count} files are too many: send at most ${most} at once.`);
    return;
  }
  const body = new FormData(form);
  for (const [file, path] of dropped) body.append("files", file, path);
  form.querySelector("button.main").disabled = true;
  form.querySelector("#sending").hidden = false;
  const bar = form.querySelector("#sent");
  const words = form.querySelector("#sent-words");
  // fetch does not tell how much has been sent.
  const request = new XMLHttpRequest();
  request.upload.addEventListener("progress", (sent) => {
    if (sent.lengthComputable) bar.value = sent.loaded / sent.total;
    words.textContent = bar.value < 1 ? `${Math.round(100 * bar.value)} % sent` : "Reading …";
  });
  request.addEventListener("load", () => {
    if (request.status !== 200) {
      refuse(wordsOf(request));
      return;
    }
    words.textContent = "Reckoning what it costs …";
    tell(words.textContent);
    location.assign(JSON.parse(request.responseText).to);
  });
  request.addEventListener("error", () => refuse("The service can't be reached, or broke off: try again."));
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.send(body);
});
// A browser that comes back has the files still, and must not be seen sending.
addEventListener("pageshow", () => {
  form.querySelector("button.main").disabled = false;
  form.querySelector("#sending").hidden = true;
  show();
});
