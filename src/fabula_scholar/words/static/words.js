// Words: the place up to which a book was read is filled in from the reader's bookmark.

import { bookmarks, followBookmark, make } from "./shell.js";

const page = document.querySelector("#words-page");
const form = document.querySelector("form.counting");
followBookmark(form, page.dataset.collection, "Count the whole book", "The whole book is counted, to its end.");
const result = page.querySelector(".result");
if (result && !form.elements.document.value && bookmarks.any(page.dataset.collection)) {
  // A place in one book is none in others, so all of each is counted.
  result.before(make("p", "note", "All books are counted to their ends. Choose the book with your bookmark to see nothing that comes later."));
}
