"""The index of names: whom a name means, by words, without titles, and by stems."""

from __future__ import annotations

from cases import for_each
from fabula.graphs.entities.names import Names, titles_agree

BASKERVILLE: Names[str] = Names(
    {
        "barrymore": {"Barrymore": 9, "John Barrymore": 2},
        "eliza": {"Mrs. Barrymore": 5, "Eliza": 1},
        "hall": {"Baskerville Hall": 7, "the Hall": 3},
        "holmes": {"Sherlock Holmes": 20, "Holmes": 90},
        "moor": {"the moor": 40, "Moor": 2},
        "mycroft": {"Mycroft Holmes": 3, "Holmes": 1},
        "stapleton": {"Mr. Stapleton": 4},
    },
    "en",
)


@for_each(
    "name", ["Sherlock Holmes", "SHERLOCK HOLMES", "Sherlock Holmes’s", "“Sherlock\n Holmes,”"]
)
def test_a_name_is_found_whatever_its_case_and_punctuation(name: str) -> None:
    assert BASKERVILLE.exact(name) == ("holmes",)


def test_whom_the_text_calls_so_most_often_is_first() -> None:
    assert BASKERVILLE.exact("Holmes") == ("holmes", "mycroft")
    equals = Names({"b": {"Jan": 2}, "a": {"Jan": 1, "JAN": 1}})
    assert equals.exact("jan") == ("a", "b"), "forms of the same words count together"


def test_titles_and_articles_are_left_aside_where_the_words_find_nobody() -> None:
    assert BASKERVILLE.exact("Mr. Holmes") == ()
    assert BASKERVILLE.find_untitled("Mr. Holmes’s") == ("holmes", "mycroft")
    assert BASKERVILLE.find("a Hall") == ("hall",)
    assert BASKERVILLE.find("Stapleton") == ("stapleton",)


def test_a_womans_title_does_not_find_her_husband() -> None:
    assert BASKERVILLE.find("Mr. Barrymore") == ("barrymore",)
    assert BASKERVILLE.find("Mrs Barrymore") == ("eliza",)
    assert BASKERVILLE.find("Mrs. Holmes") == (), "nobody has the title"
    assert BASKERVILLE.find("Miss Stapleton") == (), "he is a man"
    assert not titles_agree(["Mrs. Stapleton", "Miss Stapleton"])
    assert titles_agree(["Dr. Watson", "Watson"])


def test_inflected_forms_and_another_order_are_found_by_stems() -> None:
    polish = Names({"t": {"Tadeusz Soplica": 3}, "z": {"Zosia": 2}}, "pl")
    assert polish.exact("Tadeusza Soplicy") == polish.find_untitled("Tadeusza Soplicy") == ()
    assert polish.find("Soplica Tadeusz") == ("t",)
    assert Names({"s": {"Соня": 1}}, "ru").find("Соню") == ("s",)


@for_each("nothing", ["", "…", "Dr.", "nobody at all"])
def test_what_is_nobodys_name_finds_nobody(nothing: str) -> None:
    assert BASKERVILLE.find(nothing) == ()


@for_each("name", ["会社", "हिन्दी", "Żółć", "Straße", "שלום"])
def test_names_of_any_script_are_found_and_told_apart(name: str) -> None:
    names = Names({0: {name: 1}, 1: {"社会": 1}, 2: {"Zolc": 1}})
    assert names.exact(name.upper()) == (0,)


def test_a_name_is_capitalised_where_the_text_never_writes_it_small() -> None:
    assert BASKERVILLE.is_capitalised("holmes")
    assert not BASKERVILLE.is_capitalised("the moor")
    assert BASKERVILLE.is_capitalised("moor"), "alone it is"
    assert BASKERVILLE.longest == 2
