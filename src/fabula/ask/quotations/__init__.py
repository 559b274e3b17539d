"""What an answer quotes: found, compared with the books, shown with its passage."""
