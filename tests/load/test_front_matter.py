"""Metadata in front of a text: read, counted as left out, and never invented."""

from __future__ import annotations

from cases import for_each
from fabula.load import markdown
from fabula.load.blocks import Draft
from fabula.load.text import plain

STORY = "The miller kept a lantern by the old weir."
YAML = """---
title: "The Kettle: A Tale"
author:
  - Ann Smith
  - {name: Bo Lee}
lang: en-GB
date: 1890-05-03
tags: [geese, weirs]
---
"""


def facts(draft: Draft) -> tuple[str, str, str, str]:
    return draft.title, draft.author, draft.language, draft.published


@for_each("suffix", ["txt", "md"])
def test_yaml_is_read_in_text_and_markdown(suffix: str) -> None:
    text = f"{YAML}\n{STORY}\n"
    draft = plain(text) if suffix == "txt" else markdown.read(text.encode(), "x.md")
    assert facts(draft) == ("The Kettle: A Tale", "Ann Smith, Bo Lee", "en-GB", "1890-05-03")
    assert [block.text for block in draft.blocks] == [STORY]
    assert draft.left_out == {"front matter": len("".join(YAML.split()))}


@for_each(
    "front",
    [
        '+++\ntitle = "The Kettle"\nauthor = "Ann Smith"\n+++\n',
        "% The Kettle\n% Ann Smith\n",
        "---\ntitle: The Kettle\nauthor: Ann Smith\nnot: [valid\n---\n",
        "Title: The Kettle\nAuthor: Ann Smith\n",
        "タイトル：The Kettle\n著者：Ann Smith\n",
    ],
)
def test_other_forms_are_read_too(front: str) -> None:
    draft = plain(f"{front}\n{STORY}")
    assert facts(draft)[:2] == ("The Kettle", "Ann Smith")
    assert [block.text for block in draft.blocks] == [STORY]


def test_a_rule_above_and_below_text_is_no_front_matter() -> None:
    texts = [block.text for block in plain(f"---\n\n{STORY}\n\n---\n\nThe end.").blocks]
    assert texts == ["---", STORY, "---", "The end."]


@for_each("title", ["Untitled", "Microsoft Word - final2.doc"])
def test_what_a_program_wrote_is_no_title(title: str) -> None:
    draft = plain(f"---\ntitle: {title}\nauthor: User\n---\n{STORY}")
    assert facts(draft)[:2] == ("", "")


def test_headings_of_markdown_have_their_levels() -> None:
    chapters = "".join(
        f"## BOOK {book}\n\n" + "".join(f"### CHAPTER {n}\n\n{STORY}\n\n" for n in "12")
        for book in "12"
    )
    draft = markdown.read(f"# The Kettle\n\n{chapters}".encode(), "x.md")
    assert draft.title == "The Kettle"
    assert [(b.heading, b.level) for b in draft.blocks if b.heading] == [
        ("BOOK 1", 1),
        ("CHAPTER 1", 2),
        ("CHAPTER 2", 2),
        ("BOOK 2", 1),
        ("CHAPTER 1", 2),
        ("CHAPTER 2", 2),
    ]


def test_chinese_lines_of_markdown_are_joined_without_spaces() -> None:
    draft = markdown.read("她的哥\n哥带着折断的桨。\n".encode(), "x.md")
    assert draft.blocks[0].text == "她的哥哥带着折断的桨。"
