// Adding: dropped files and folders, and the progress of the upload.

import { parse, tell } from "./shell.js";

const form = document.querySelector("form.add");
const drop = form.querySelector(".drop");
const input = form.querySelector("#files");
const chosen = form.querySelector("#chosen");
const refused = form.querySelector("#refused");
const MAX_NAMES = 8;
/** Dropped files with their paths: a file input can't hold folders. */
let dropped = [];

function show() {
  const names = [...dropped.map(([, path]) => path), ...[...input.files].map((file) => file.name)];
  chosen.hidden = !names.length;
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  chosen.textContent = `${names.length} chosen: ${names.slice(0, MAX_NAMES).join(", ")}${more}`;
}

/** Yield all files of a dropped entry and its folders, except hidden ones. */
async function* filesOf(entry, path = "") {
  if (entry.name.startsWith(".")) return;
  if (entry.isFile) {
    yield [await new Promise((done, failed) => entry.file(done, failed)), path + entry.name];
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const entries = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!entries.length) return;
    for (const child of entries) yield* filesOf(child, `${path}${entry.name}/`);
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
  // Read before the first await: the browser clears the data after the event.
  const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const files = [...event.dataTransfer.files];
  if (!entries.length) dropped.push(...files.map((file) => [file, file.name]));
  for (const entry of entries) for await (const file of filesOf(entry)) dropped.push(file);
  show();
  tell(`${dropped.length} files chosen`);
});
input.addEventListener("change", show);

function refuse(words) {
  form.querySelector("button.main").disabled = false;
  form.querySelector("#sending").hidden = true;
  refused.textContent = words;
  refused.hidden = false;
  tell(words, { isError: true });
}

/** The message of an error page. */
function messageOf(request) {
  const page = parse(request.responseText);
  return page.querySelector("main .lead")?.textContent || `The service refused the files (status ${request.status}).`;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  refused.hidden = true;
  const max = Number(form.dataset.most);
  const count = dropped.length + input.files.length;
  if (count > max) {
    // The service could only refuse them after all of them were sent.
    refuse(`${count} files are too many: choose at most ${max} at once.`);
    return;
  }
  const body = new FormData(form);
  for (const [file, path] of dropped) body.append("files", file, path);
  form.querySelector("button.main").disabled = true;
  form.querySelector("#sending").hidden = false;
  const bar = form.querySelector("#sent");
  const words = form.querySelector("#sent-words");
  // XMLHttpRequest, because fetch does not report the progress of an upload.
  const request = new XMLHttpRequest();
  request.upload.addEventListener("progress", (sent) => {
    if (sent.lengthComputable) bar.value = sent.loaded / sent.total;
    words.textContent = bar.value < 1 ? `${Math.round(100 * bar.value)} % sent` : "Reading …";
  });
  request.addEventListener("load", () => {
    if (request.status !== 200) {
      refuse(messageOf(request));
      return;
    }
    words.textContent = "Estimating the cost …";
    tell(words.textContent);
    location.assign(JSON.parse(request.responseText).to);
  });
  request.addEventListener("error", () => refuse("The service can't be reached, or the connection was lost: try again."));
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "application/json");
  request.send(body);
});
// A page from the browser's back-forward cache must not look as if it were still sending.
addEventListener("pageshow", () => {
  form.querySelector("button.main").disabled = false;
  form.querySelector("#sending").hidden = true;
  show();
});
