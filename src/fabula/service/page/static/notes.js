// The list of notes: notes on a book with a bookmark are shown up to the bookmark alone.

import { bookmarks, followBookmark, make } from "./shell.js";

const list = document.querySelector("#notes");
const form = document.querySelector("form.filter");
if (form.elements.until) followBookmark(form, list.dataset.collection, "Show all notes", "All notes on this book are shown.");

// Notes may tell what comes later. On the list of all books, where the server does not know up to where
// each was read, those on a book with a bookmark are a link away, as far as the reader has read it.
if (!form.elements.until) {
  const hidden = new Map();
  for (const note of list.querySelectorAll(".note-list > li")) {
    const { document: book, title } = note.dataset;
    const place = bookmarks.get(list.dataset.collection, book);
    if (!place) continue;
    note.hidden = true;
    hidden.set(book, { title, until: place.until, count: (hidden.get(book)?.count ?? 0) + 1 });
  }
  for (const [book, { title, until, count }] of hidden) {
    const address = new URL(form.action);
    address.searchParams.set("document", book);
    address.searchParams.set("until", until);
    if (form.elements.words.value) address.searchParams.set("words", form.elements.words.value);
    const link = make("a", "", "Show those up to your bookmark");
    link.href = address;
    const bdi = make("bdi", "", title);
    const what = count === 1 ? "One note is hidden on " : `${count} notes are hidden on `;
    list.querySelector(".note-list").before(make("p", "note", what, bdi, ", in which you have a bookmark. ", link));
  }
}
document.documentElement.classList.remove("bookmarked");
