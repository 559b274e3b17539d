"""The notation of Aozora Bunko: what is printed stays, and all else is counted."""

from __future__ import annotations

from fabula.load.aozora import is_aozora, strip_notation
from fabula.load.blocks import Draft
from fabula.load.text import plain

RULE = "-" * 55
LEGEND = f"""{RULE}
【テキスト中に現れる記号について】

《》：ルビ
（例）粉屋《こなや》

［＃］：入力者注
{RULE}
"""
BODY = """［＃３字下げ］一　灯［＃「一　灯」は中見出し］

　老いた粉屋《こなや》は古い｜水車小屋《すいしゃごや》にいた［＃「いた」に傍点］。
［＃改ページ］
［＃３字下げ］二　渡し舟［＃「二　渡し舟」は中見出し］

　※［＃「口＋喜」、第3水準1-15-18］と言って渡しへ行った［＃挿絵（fig1_01.png、横1×縦1）入る］。
"""
COLOPHON = "底本：「作例集」例文社\n　　　2001（平成13）年1月1日\n入力：作例一\n"


def read(text: str) -> Draft:
    return plain(text)


def test_a_text_of_the_library_is_read_as_it_is_printed() -> None:
    draft = read(f"水車小屋\n作例太郎\n\n{LEGEND}\n{BODY}\n\n\n{COLOPHON}")
    assert (draft.title, draft.author) == ("水車小屋", "作例太郎")
    assert [(block.heading, block.level, block.text) for block in draft.blocks[1:]] == [
        ("一 灯", 1, "一 灯"),
        ("", 0, "老いた粉屋は古い水車小屋にいた。"),
        ("二 渡し舟", 1, "二 渡し舟"),
        ("", 0, "嘻と言って渡しへ行った。"),
    ]
    assert set(draft.left_out) == {
        "legend",
        "colophon",
        "readings",
        "typing notes",
        "illustration marks",
    }
    assert draft.left_out["readings"] == len("《こなや》｜《すいしゃごや》")


def test_headings_have_the_levels_of_their_sizes() -> None:
    text = """［＃大見出し］上［＃大見出し終わり］

　粉屋《こなや》は堰《せき》のそばに灯《ひ》をともした。

一［＃「一」は中見出し］

　誰も知らない。

［＃ここから小見出し］
灯
［＃ここで小見出し終わり］

　兄は帰ってきた。
"""
    assert [(b.heading, b.level) for b in read(text).blocks if b.heading] == [
        ("上", 1),
        ("一", 2),
        ("灯", 3),
    ]


def test_readings_of_a_web_novel_are_left_out_without_a_legend() -> None:
    text = "「|水車《すいしゃ》」と粉屋《こなや》は堰《せき》で言った。\n\n誰《だれ》も知らない。"
    assert strip_notation(text).text == "「水車」と粉屋は堰で言った。\n\n誰も知らない。"


def test_titles_of_chinese_books_are_no_readings() -> None:
    text = "他读《红楼梦》和《水浒传》，还有《三国演义》和《西游记》。"
    assert not is_aozora(text)
    assert read(text).blocks[0].text == text
