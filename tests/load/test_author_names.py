"""Names of authors as catalogues print them are names as readers know them."""

from __future__ import annotations

import pytest

from fabula.load.author_names import read_author


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("Dickens, Charles (1812-1870)", "Charles Dickens"),  # ELTeC
        ("Tupper, Martin Farquhar (1810-1889).", "Martin Farquhar Tupper"),
        ("Sample, Ben, 1580?-1626.", "Ben Sample"),  # EEBO-TCP
        ("Smith, John, fl. 1600", "John Smith"),
        ("Grimeston, Edward.", "Edward Grimeston"),
        ("Brown, T. E.", "T. E. Brown"),
        ("Sidney, Philip, Sir, 1554-1586.", "Sir Philip Sidney"),
        ("Joyce, James, 1882-1941", "James Joyce"),  # Oxford Text Archive
        ("Dumas, Alexandre, fils, 1824-1895", "Alexandre Dumas fils"),
        ("Goethe, Johann Wolfgang von (1749–1832)", "Johann Wolfgang von Goethe"),
        ("Corelli, Marie [pseud.] (1855-1924)", "Marie Corelli"),
        ("King, Stephen (1947-)", "Stephen King"),
        ("Plato, 427-347 B.C.", "Plato"),
        ("Ouida, 1839-1908", "Ouida"),
        # These are no surname and first name.
        ("Elizabeth I, Queen of England, 1533-1603", "Elizabeth I, Queen of England"),
        ("Augustine, Saint, Bishop of Hippo", "Augustine, Saint, Bishop of Hippo"),
        ("Johann Wolfgang von Goethe", "Johann Wolfgang von Goethe"),
        ("Mr. X", "Mr. X"),
    ],
)
def test_a_catalogues_name_is_turned_and_loses_its_years(printed: str, name: str) -> None:
    assert read_author(printed) == name
