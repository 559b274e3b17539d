"""Words: concordances, collocates, key words and n-grams of documents."""
