// An operation's screen: the place up to which a book was read is filled in from the reader's bookmark,
// and the word of a concordance is in sight.

import { bookmarks, followBookmark, make } from "./shell.js";

const page = document.querySelector("#operation-page");
const form = document.querySelector("form.operation");
if (form?.elements.until) {
  followBookmark(form, page.dataset.collection, "Show the whole book", "The whole book is shown, to its end.");
  const result = page.querySelector(".result");
  if (result && !form.elements.document.value && bookmarks.any(page.dataset.collection)) {
    // A place in one book is none in others, so the server shows all of each: rows of a book with a
    // bookmark are a link away, as far as the reader has read it.
    const hidden = new Map();
    for (const row of result.querySelectorAll("tr[data-document]")) {
      const { document: book, title } = row.dataset;
      const place = bookmarks.get(page.dataset.collection, book);
      if (!place) continue;
      row.hidden = true;
      hidden.set(book, { title, until: place.until, count: (hidden.get(book)?.count ?? 0) + 1 });
    }
    if (!hidden.size) result.before(make("p", "note", "All books are shown to their ends. Choose the book with your bookmark to see nothing that comes later."));
    for (const [book, { title, until, count }] of hidden) {
      const address = new URL(location.href);
      address.searchParams.set("document", book);
      address.searchParams.set("until", until);
      const link = make("a", "", "Show those up to your bookmark");
      link.href = address;
      const what = count === 1 ? "One row is hidden of " : `${count} rows are hidden of `;
      result.before(make("p", "note", what, make("bdi", "", title), ", in which you have a bookmark. ", link));
    }
  }
}
document.documentElement.classList.remove("bookmarked");
const node = page.querySelector(".column-node");
const box = node?.closest(".scroll");
const isHidden = node && node.offsetLeft + node.offsetWidth > box.clientWidth;
if (isHidden) box.scrollLeft = node.offsetLeft + (node.offsetWidth - box.clientWidth) / 2;
