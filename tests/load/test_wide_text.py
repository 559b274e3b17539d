"""Chinese, Japanese, Korean and Thai lines are joined as the script does; verse keeps its lines."""

from __future__ import annotations

from cases import for_each
from fabula.load import html, xml
from fabula.load.clean import clean
from fabula.load.text import plain

CHINESE = (
    "老磨坊主在堰边点起一盏灯，村里没有人知道钟为什么响了两次，马大娘在黄昏前数鹅，把数目写在门上，"
    "她的哥哥带着折断的桨回家，一句话也没有说，春天河水冲走了桥，秋天又冲走了渡船。"
)
POEM = "床前明月光，\n疑是地上霜。\n举头望明月，\n低头思故乡。"


def wrap(text: str, width: int) -> str:
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))


@for_each("width", [24, 35, 40, 50])
def test_wrapped_chinese_is_joined_without_spaces(width: int) -> None:
    text = clean(f"{wrap(CHINESE, width)}\n\n" * 3)
    assert text.split("\n\n") == [CHINESE] * 3


def test_a_poem_in_wrapped_chinese_keeps_its_lines() -> None:
    page = wrap(CHINESE, 35)
    assert clean(f"{page}\n\n{POEM}\n\n{page}").split("\n\n")[1] == POEM


def test_lines_of_japanese_are_paragraphs_where_they_are_indented() -> None:
    page = "　老いた粉屋は灯をともした。\n「どうして」と兄が聞いた。\n　誰も何も知らなかった。"
    assert clean(page).split("\n\n") == [line.strip("　") for line in page.split("\n")]
    wrapped = (
        "　老いた粉屋は堰のそばに灯をともした。村の誰も、鐘がなぜ二度鳴った\n"
        "のか知らなかった。おきよは日暮れ前に鵞鳥を数え、その数を戸に書い\nた。\n"
    )
    first = "老いた粉屋は堰のそばに灯をともした。村の誰も、鐘がなぜ二度鳴ったのか知らなかった。"
    assert (
        clean(wrapped * 3).split("\n\n")
        == [f"{first}おきよは日暮れ前に鵞鳥を数え、その数を戸に書いた。"] * 3
    )


def test_a_chapter_between_lines_of_a_novel_is_a_paragraph_of_its_own() -> None:
    blocks = plain(f"第一章 夜\n　　{CHINESE}\n　　他说。\n第二章 灯\n　　{CHINESE}").blocks
    assert [(block.heading, block.text) for block in blocks] == [
        ("第一章 夜", "第一章 夜"),
        ("", CHINESE),
        ("", "他说。"),
        ("第二章 灯", "第二章 灯"),
        ("", CHINESE),
    ]


def test_indented_lines_of_chinese_are_paragraphs_without_blank_lines_between_them() -> None:
    lines = [CHINESE[:40] + "。", f"“{CHINESE[:25]}？”", CHINESE[:52] + "……", "他说。"] * 4
    assert clean("\n".join(f"　　{line}" for line in lines)).split("\n\n") == lines


def test_korean_is_joined_with_spaces_and_thai_without() -> None:
    korean = "늙은 방앗간 주인은 둑 옆에 등불을 켰다. 마을의 누구도 종이 왜 두 번 울렸는지"
    assert clean(f"{korean}\n{korean}\n몰랐다.\n\n" * 2).startswith(f"{korean} {korean} 몰랐다.")
    thai = "ชายชราจุดตะเกียงไว้ข้างฝายน้ำ ไม่มีใครในหมู่บ้านรู้ว่าทำไมระฆังจึงดังสอง"
    assert clean(f"{thai}\n{thai}\nครั้ง\n\n" * 2).startswith(f"{thai}{thai}ครั้ง")


def test_line_breaks_in_the_source_of_a_page_are_no_spaces_in_chinese() -> None:
    lines = wrap(CHINESE, 20).replace("\n", "\n      ")
    page = f"<p>\n  {lines}\n</p><p>Le vieux meunier\n  rêvait, <i>naïf</i>\n  et seul.</p>"
    assert [block.text for block in html.read(page.encode(), "page.html").blocks] == [
        CHINESE,
        "Le vieux meunier rêvait, naïf et seul.",
    ]
    book = f"<TEI><text><body>{page}</body></text></TEI>".replace("<i>", "<hi>")
    blocks = xml.read(book.replace("</i>", "</hi>").encode(), "book.xml", 10**6).blocks
    assert [block.text for block in blocks] == [CHINESE, "Le vieux meunier rêvait, naïf et seul."]
