// Runs before the page is drawn, on pages that the server draws of a whole book: if the reader has a
// bookmark in it, the page is asked for again up to that place, so that nothing later is seen.
// An address that names a place itself (`until`, as 100% for the whole book) is left as it is; a form
// sends an empty one where the script did not know which book was meant.
// Where the page is of all books (`data-any`), it hides itself what tells of those with a bookmark.
{
  const { caller, collection, document: book, any } = document.currentScript.dataset;
  try {
    if (any !== undefined && Object.keys(localStorage).some((key) => key.startsWith(`${caller} bookmark ${collection}/`))) {
      document.documentElement.classList.add("bookmarked");
    }
    const place = JSON.parse(localStorage.getItem(`${caller} bookmark ${collection}/${book}`));
    const address = new URL(location.href);
    if (Number.isInteger(place?.until) && place.until >= 0) {
      if (document.currentScript.dataset.redraw === undefined) {
        // The page of the text hides what is later itself, once it is there.
        document.documentElement.classList.add("bookmarked");
      } else if (!address.searchParams.get("until")) {
        address.searchParams.set("until", place.until);
        location.replace(address);
        // Nothing of this page is shown while the other one is loaded.
        document.documentElement.hidden = true;
      }
    }
  } catch { /* no storage: there are no bookmarks */ }
}
