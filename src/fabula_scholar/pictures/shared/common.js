// What the scripts of all pages use.
const graph = JSON.parse(document.getElementById("graph").textContent);
const get = (id) => document.getElementById(id);
function put(parent, tag, cssClass, text) {
  const element = document.createElement(tag);
  element.className = cssClass;
  element.textContent = text;
  parent.append(element);
  return element;
}

// Searches compare texts without case, accents, points and ligatures, as fabula.text.folding does.
const FOLDED = {
  æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", ħ: "h", þ: "th", ß: "ss", ı: "i", ё: "е", ς: "σ",
  "’": "'", "‘": "'", "ʼ": "'", "´": "'", "`": "'", أ: "ا", إ: "ا", آ: "ا", ٱ: "ا", ى: "ي", ی: "ي", ة: "ه", ک: "ك",
};
const WITH_ACCENTS = /[\p{Script=Latin}\p{Script=Greek}]/u;
const POINTS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u00ad\u200b-\u200f]/gu;
function foldLetter(letter) {
  if (letter < "\u0080") return FOLDED[letter] ?? letter.toLowerCase();
  const form = FOLDED[letter] ? "NFC" : WITH_ACCENTS.test(letter) ? "NFKD" : "NFKC";
  const parts = letter.normalize(form).replace(POINTS, "").toLowerCase();
  return [...parts].map((part) => FOLDED[part] ?? part).join("");
}
// The folded text, and the place in the text that each of its letters comes from.
function foldWithPlaces(text) {
  let folded = "", place = 0;
  const places = [];
  for (const letter of text) {
    const parts = foldLetter(letter);
    folded += parts;
    for (let count = 0; count < parts.length; count += 1) places.push(place);
    place += letter.length;
  }
  places.push(place);
  return { folded, places };
}
const foldText = (text) => foldWithPlaces(text).folded.replace(/\s+/gu, " ");

function button(parent, cssClass, text, onClick) {
  const element = put(parent, "button", cssClass, text);
  element.type = "button";
  element.addEventListener("click", onClick);
  return element;
}
