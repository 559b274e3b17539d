// Comparing: two to four modes, and a word that it is under way.

const form = document.querySelector("form.question");
const boxes = [...form.querySelectorAll("input[name=modes]")];

function bound() {
  const chosen = boxes.filter((one) => one.checked);
  for (const one of boxes) one.disabled = !one.checked && chosen.length >= 4;
  boxes[0]?.setCustomValidity(chosen.length < 2 ? "Choose at least two." : "");
}
form.addEventListener("change", bound);
bound();
form.addEventListener("submit", () => {
  document.querySelector("#working").textContent = "Asking each in turn …";
});
addEventListener("pageshow", () => { document.querySelector("#working").textContent = ""; });
