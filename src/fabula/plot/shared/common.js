// What the scripts of both pages use.
const graph = JSON.parse(document.getElementById("graph").textContent);
const get = (id) => document.getElementById(id);
function put(parent, tag, name, text) {
  const element = document.createElement(tag);
  element.className = name;
  element.textContent = text;
  parent.append(element);
  return element;
}
function button(parent, name, text, act) {
  const element = put(parent, "button", name, text);
  element.type = "button";
  element.addEventListener("click", act);
  return element;
}
