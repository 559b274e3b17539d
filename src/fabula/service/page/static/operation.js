// An operation's screen: the place up to which a book was read is filled in from the reader's bookmark.

import { bookmarks, followBookmark, make } from "./shell.js";

const page = document.querySelector("#operation-page");
const form = document.querySelector("form.operation");
if (form.elements.until) {
  followBookmark(form, page.dataset.collection, "Show the whole book", "The whole book is shown, to its end.");
  const result = page.querySelector(".result");
  if (result && !form.elements.document.value && bookmarks.any(page.dataset.collection)) {
    // A place in one book is none in others, so all of each is shown.
    result.before(make("p", "note", "All books are shown to their ends. Choose the book with your bookmark to see nothing that comes later."));
  }
}
