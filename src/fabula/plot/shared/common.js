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
function button(parent, cssClass, text, onClick) {
  const element = put(parent, "button", cssClass, text);
  element.type = "button";
  element.addEventListener("click", onClick);
  return element;
}
