"""Which lines of a text are its chapters' headings."""

from cases import for_each
from fabula.load import read_text
from fabula.load.blocks import Block
from fabula.load.chapters import chapter_number, is_chapter_line
from fabula.load.headings import confirm

BODY = "Then he went up to the old house, and nobody there knew who he was or what he wanted. " * 20


def titles(text: str) -> list[str]:
    document = read_text(text, source="x", collection="c")
    for section in document.sections:
        first = section.title.split(":", 1)[0]
        assert document.text.startswith(first, section.start)
        assert section.start == 0 or document.text[section.start - 2 : section.start] == "\n\n"
    return [section.title for section in document.sections]


def book(*headings: str) -> str:
    return "\n\n".join(f"{heading}\n\n{BODY}\n\n{BODY}" for heading in headings)


@for_each(
    "line",
    """CHAPTER I.|CHAPTER I. Down the Rabbit-Hole|Chapter 1: A Title|Chapter One|CHAPTER THE FIRST
    STAVE ONE|STAVE I:  MARLEY'S GHOST|BOOK FIRST|Book the Second|Part II|Volume 3
    PART TWO: The Return
    Chapter Twenty-One|Act III|Scene 2|Canto XII|Letter 4|THE FIRST PART|Part II The Road Home
    Księga pierwsza|KSIĘGA DWUNASTA|Rozdział XIV|ROZDZIAŁ PIERWSZY|Część druga|Tom II|Pieśń III
    Kapitel 3|Erstes Kapitel|ZWEITER TEIL|3. Kapitel|Chapitre premier|CHAPITRE IV|Première partie
    Capítulo 2|Capitolo primo|Hoofdstuk 5|Глава первая|ГЛАВА IX
    PROLOGUE|Epilogue|Epilog|PREFACE
    Prologue: The Storm|Przedmowa|Vorwort""".replace("\n    ", "|").split("|"),
)
def test_this_line_is_a_chapter(line: str) -> None:
    assert is_chapter_line(" ".join(line.split()))


@for_each(
    "line",
    """第一回 老磨坊夜燃孤燈|第十二章|第3話 夜|卷一|上卷|楔子|第一節 灯|제1장 방앗간|제 2 부
    1장|에필로그|บทที่ ๑|บทที่หนึ่ง|ตอนที่ 2 กลางคืน|Chương một|Chương II: Đêm|الفصل الأول|الفصل ٢
    باب اول|מבוא|פרק א|פרק י״ב|פרק ראשון|अध्याय १|पहला अध्याय|प्रथम परिच्छेद
    প্রথম পরিচ্ছেদ|ΚΕΦΑΛΑΙΟ Α΄|Κεφάλαιο πρώτο
    Глава двадцать первая|Розділ п’ятий|Поглавље друго|Druhá kapitola|Első fejezet|II. fejezet
    Birinci Bölüm|Bab 1|Sura ya Kwanza|Ensimmäinen luku|Partea a doua|თავი პირველი
    Գլուխ 1|அத்தியாயம் 1
    Fünfundzwanzigstes Kapitel|Chapitre vingt et unième|SECOND EPILOGUE: 1813""".replace(
        "\n    ", "|"
    ).split("|"),
)
def test_this_line_is_a_chapter_in_its_language(line: str) -> None:
    assert is_chapter_line(line)


@for_each(
    "line",
    """第一封信寄给了死去十一年的人|第一部小说的名字|第一回，他来了。|第一天早上|제일 좋은 날이었다
    פרק זה|Chapter on Whales|Letter to Mother|บทที่หนึ่งของเรื่องนี้ยาวมาก|I book a room""".replace(
        "\n    ", "|"
    ).split("|"),
)
def test_this_line_is_no_chapter_in_its_language(line: str) -> None:
    assert not is_chapter_line(line)


@for_each(
    "line",
    """Part of the food was for their own lunch.|Part two of the plan was ready
    Chapter after chapter
    Book two seats at the theatre, please|Księga ustaw wojennych, teraz w Litwie całej
    Chapter
    "Chapter One," he said.|Act one way and think another|Letter
    He read chapter one.|Part I am sorry
    The first part of it was read|Buch und Band|Scene by scene|Preface to nothing|Livre""".replace(
        "\n    ", "|"
    ).split("|"),
)
def test_this_line_is_no_chapter(line: str) -> None:
    assert not is_chapter_line(line)


def test_chapters_are_found_with_their_titles() -> None:
    text = book("CHAPTER I. The House", "CHAPTER II. The Road", "CHAPTER III. The End of It")
    assert titles(text) == [
        "CHAPTER I. The House",
        "CHAPTER II. The Road",
        "CHAPTER III. The End of It",
    ]


def test_a_heading_in_two_blocks_is_one_title() -> None:
    text = book("STAVE ONE\n\nMARLEY'S GHOST", "STAVE TWO\n\nTHE SPIRIT.")
    assert titles(text) == ["STAVE ONE: MARLEY'S GHOST", "STAVE TWO: THE SPIRIT"]


def test_a_heading_in_two_lines_is_one_title() -> None:
    text = book("Księga pierwsza\nGospodarstwo", "Księga druga\nZamek")
    assert titles(text) == ["Księga pierwsza: Gospodarstwo", "Księga druga: Zamek"]


def test_a_first_sentence_is_no_title() -> None:
    text = book("CHAPTER I.\n\nIt was late", "CHAPTER II.", "CHAPTER III.", "CHAPTER IV.")
    assert titles(text) == ["CHAPTER I", "CHAPTER II", "CHAPTER III", "CHAPTER IV"]


def test_text_right_below_a_heading_is_text() -> None:
    wrapped = "\n".join(["It was the best of times, it was the worst of times, it was old"] * 30)
    text = f"CHAPTER I.\n{wrapped}\n\nCHAPTER II.\n{wrapped}\n"
    assert titles(text) == ["CHAPTER I", "CHAPTER II"]


@for_each("between", ["\n", "\n\n"])
def test_a_table_of_contents_is_not_taken_for_chapters(between: str) -> None:
    names = [
        f"Chapter {number}. {name}" for number, name in enumerate(("Here", "There", "Home"), 1)
    ]
    text = f"A TALE\n\nContents\n\n{between.join(names)}\n\n{book(*names)}"
    assert titles(text) == names
    document = read_text(text, source="x", collection="c")
    assert document.sections[0].start == document.text.index(f"{names[0]}\n\nThen")


def test_a_table_of_contents_needs_no_name() -> None:
    names = ["BOOK ONE", "CHAPTER I", "CHAPTER II", "BOOK TWO", "CHAPTER I", "CHAPTER II"]
    listed = "\n\n".join(names)
    document = read_text(f"A TALE\n\n{listed}\n\n{book(*names)}", source="x", collection="c")
    assert [section.title for section in document.sections] == names
    assert document.text.startswith("A TALE\n\nBOOK ONE\n\nThen he went")


def test_chapters_go_on_behind_a_play_within_a_novel() -> None:
    names = ["CHAPTER I", "CHAPTER II", "ACT I", "ACT II", "ACT III", "CHAPTER III"]
    sections = read_text(book(*names), source="x", collection="c").sections
    assert [section.level for section in sections] == [1, 1, 2, 2, 2, 1]


def test_contents_before_a_preface_are_not_taken_for_chapters() -> None:
    names = [f"CHAPTER {number}" for number in ("I", "II", "III")]
    text = "\n\n".join([*names, "A word before.", BODY, book(*names)])
    assert titles(text) == names


def test_a_part_stands_above_its_first_chapter() -> None:
    text = f"PART ONE\n\n{book('CHAPTER I', 'CHAPTER II')}\n\nPART TWO\n\n{book('CHAPTER III')}"
    assert titles(text) == ["PART ONE", "CHAPTER I", "CHAPTER II", "PART TWO", "CHAPTER III"]


def test_numerals_in_a_series_are_chapters() -> None:
    assert titles(book("I", "II", "III")) == ["I", "II", "III"]
    assert titles(book("I. THE HOUSE", "II. THE ROAD")) == ["I. THE HOUSE", "II. THE ROAD"]
    assert titles(book("1", "2", "3")) == ["1", "2", "3"]
    assert titles(f"{BODY}\n\n{book('II', 'III')}") == ["II", "III"]


def test_numbered_stanzas_are_no_chapters() -> None:
    stanzas = "\n\n".join(
        f"{n}\n\nThe lights are out\nAnd nobody knows" for n in ("I", "II", "III")
    )
    assert titles(f"{BODY}\n\n{stanzas}") == []


def test_a_number_out_of_series_is_no_chapter() -> None:
    assert titles(book("1887", "44", "7")) == []


def test_capitals_that_part_the_text_regularly_are_chapters() -> None:
    days = ["DAY THE FIRST", "DAY THE SECOND", "DAY THE THIRD", "L'ENVOI"]
    contents = "\n\n".join(f"{day}    {page}" for page, day in enumerate(days, 3))
    assert titles(f"A JOURNEY\n\nCONTENTS\n\n{contents}\n\n{book(*days)}") == days


def test_a_shouted_line_is_no_chapter() -> None:
    text = f"{BODY}\n\nHELP!\n\n{BODY}\n\n“COME HERE”\n\n{BODY}\n\nSTOP THAT NOISE,\n\n{BODY}"
    assert titles(text) == []


def test_capitals_beside_real_chapters_are_no_chapters() -> None:
    text = book("CHAPTER I", "SCROOGE AND MARLEY", "CHAPTER II", "TO LET", "FOR SALE")
    assert titles(text) == ["CHAPTER I", "CHAPTER II"]


def test_a_story_without_chapters_has_no_sections() -> None:
    assert titles(f"THE TALE\n\nby Somebody\n\n{BODY}\n\n{BODY}") == []


@for_each(
    ("heading", "number"),
    [
        ("STAVE II:  THE FIRST OF THE THREE SPIRITS", ("stave", 2)),
        ("Stave Two", ("stave", 2)),
        ("Chapter the Twenty-Third", ("chapter", 23)),
        ("Chapter Seventeen. Of Ships", ("chapter", 17)),
        ("CHAPTER FORTY", ("chapter", 40)),
        ("Chapter XLIX.", ("chapter", 49)),
        ("2nd Part", ("part", 2)),
        ("Erstes Kapitel", ("kapitel", 1)),
        ("Dreizehntes Kapitel", ("kapitel", 13)),
        ("Rozdział drugi", ("rozdział", 2)),
        ("Rozdział piętnasty", ("rozdział", 15)),
        ("Chapitre dix", ("chapitre", 10)),
        ("Livre premier", ("livre", 1)),
        ("Quinzième chapitre", ("chapitre", 15)),
        ("Capítulo tercero", ("capítulo", 3)),
        ("Capitolo primo", ("capitolo", 1)),
        ("Часть пятая", ("часть", 5)),
        ("Глава пятнадцатая", ("глава", 15)),
        ("Глава пятидесятая", ("глава", 50)),
        ("Chapter the Last", None),
        ("Epilogue", None),
        ("The second chapter of his life had begun", None),
    ],
)
def test_a_headings_number_is_the_same_in_words_and_figures(
    heading: str, number: tuple[str, int] | None
) -> None:
    found = chapter_number(heading)
    assert (found and (found.kind, found.value)) == number


def levels(text: str) -> list[tuple[int, str]]:
    document = read_text(text, source="x", collection="c")
    return [(section.level, section.title) for section in document.sections]


@for_each("length", [1, 20])
@for_each("contents", ["", "\n\n", "\n"])
def test_in_a_novel_of_many_books_every_chapter_is_a_section(contents: str, length: int) -> None:
    numbers = "ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN ELEVEN TWELVE THIRTEEN FOURTEEN"
    books = [f"BOOK {number}: 1805" for number in f"{numbers} FIFTEEN".split()]
    books += ["FIRST EPILOGUE: 1813 - 20", "SECOND EPILOGUE"]
    names = ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    listed = "\n\n".join(contents.join([book, *names]) for book in books)
    sentence = "Then he went up to the old house, and nobody there knew who he was. "
    body = "\n\n\n".join(
        f"{book}\n\n" + "\n\n".join(f"{name}\n\n{sentence * length}" for name in names)
        for book in books
    )
    text = f"WAR AND PEACE\n\n{f'CONTENTS{chr(10)}{chr(10)}{listed}' if contents else ''}\n\n{body}"
    expected = [[(1, book), *((2, name) for name in names)] for book in books]
    assert levels(text) == [heading for headings in expected for heading in headings]
    document = read_text(text, source="x", collection="c")
    assert document.text.startswith(f"WAR AND PEACE\n\n{books[0]}\n\n{names[0]}\n\nThen he")


def test_a_volume_has_books_and_a_book_has_chapters_whose_headings_follow_each_other() -> None:
    text = f"PART ONE\n\nBOOK I\n\n{book('CHAPTER I', 'CHAPTER II')}\n\nBOOK II\n\n"
    text += f"{book('CHAPTER I')}\n\nPART TWO\n\nBOOK III\n\n{book('CHAPTER I')}"
    assert levels(text) == [
        (1, "PART ONE"),
        (2, "BOOK I"),
        (3, "CHAPTER I"),
        (3, "CHAPTER II"),
        (2, "BOOK II"),
        (3, "CHAPTER I"),
        (1, "PART TWO"),
        (2, "BOOK III"),
        (3, "CHAPTER I"),
    ]


def test_numerals_are_below_parts_and_a_preface_is_beside_chapters() -> None:
    parts = f"PART ONE\n\n{book('I', 'II')}\n\nPART TWO\n\n{book('I', 'II')}"
    assert [level for level, _ in levels(parts)] == [1, 2, 2, 1, 2, 2]
    assert [level for level, _ in levels(book("PREFACE", "CHAPTER I", "CHAPTER II"))] == [1, 1, 1]


def test_short_chapters_are_no_table_of_contents() -> None:
    text = "\n\n".join(f"第{number}章\n\n她的哥哥回家，一句话也没有说。" for number in "一二三四")
    assert [title for _, title in levels(text)] == ["第一章", "第二章", "第三章", "第四章"]


@for_each(
    ("starts", "names"),
    [
        (
            ["3 May. Bistritz.--", "4 May.--", "5 May. The Castle.--"],
            ["3 May. Bistritz", "4 May", "5 May. The Castle"],
        ),
        (
            ["Monday, January 1st, 1660\n\n", "Tuesday, January 2nd\n\n", "Jan. 3rd.\n\n"],
            ["Monday, January 1st, 1660", "Tuesday, January 2nd", "Jan. 3rd"],
        ),
        (
            ["Dienstag, den 3. März\n", "Mittwoch, den 4. März\n", "5. März 1890\n"],
            ["Dienstag, den 3. März", "Mittwoch, den 4. März", "5. März 1890"],
        ),
        (
            ["5月3日\n\n", "5月4日 晴れ\n\n", "五月五日（水）\n\n"],
            ["5月3日", "5月4日 晴れ", "五月五日（水）"],
        ),
        (["3 мая 1890 г.\n\n", "4 мая.\n\n", "5 мая.\n\n"], ["3 мая 1890 г", "4 мая", "5 мая"]),
        (
            ["To Mrs. Saville, England\n\n", "To Mr. Lee\n\n", "To my Sister\n\n"],
            ["To Mrs. Saville, England", "To Mr. Lee", "To my Sister"],
        ),
    ],
)
def test_entries_of_a_diary_and_letters_are_sections(starts: list[str], names: list[str]) -> None:
    text = "\n\n".join(f"{start}{BODY}\n\n{BODY}" for start in starts)
    assert [title for _, title in levels(f"A JOURNAL\n\n{text}")] == names


def test_entries_are_below_their_chapter() -> None:
    days = "\n\n".join(f"{day} May.--{BODY}" for day in (3, 4, 5))
    assert levels(f"CHAPTER I\n\n{days}\n\nCHAPTER II\n\n{BODY}\n\n{BODY * 2}") == [
        (1, "CHAPTER I"),
        (2, "3 May"),
        (2, "4 May"),
        (2, "5 May"),
        (1, "CHAPTER II"),
    ]


def test_entries_are_below_a_chapter_whose_level_the_file_states() -> None:
    days = [Block(f"{day} May.--{BODY}") for day in (3, 4, 5)]
    chapters = [Block("The House", "The House", 1), Block("I", "I", 2)]
    blocks = confirm([*chapters, *days, Block("II", "II", 2), Block(BODY)], "A Tale")
    assert [(block.level, block.heading) for block in blocks if block.heading] == [
        (1, "The House"),
        (2, "I"),
        (3, "3 May"),
        (3, "4 May"),
        (3, "5 May"),
        (2, "II"),
    ]


def test_stage_directions_are_no_letters() -> None:
    directions = [
        "To Roper, languidly. I’ll tell them.",
        "To Mrs. Upjohn, with a smile",
        "To Lily—shaking hands with Jeyes",
        "To Gladys, after a pause.",
        "To Maud. Ribbon.",
    ]
    assert titles("\n\n".join(f"{line}\n\n{BODY}\n\n{BODY}" for line in directions)) == []
    names = ["To Capt. Wentworth", "To Miss Anne Elliot, Bath", "To the Rev. Mr. Lee"]
    assert titles("\n\n".join(f"{name}\n\n{BODY}\n\n{BODY}" for name in names)) == names


def test_a_place_is_no_stage_direction() -> None:
    names = [
        "To Mrs. Gisborne, Italy",
        "To Miss Nightingale, Reading",
        "To Madame Hanska, in Vienna",
        "To Mr. Vernon. Langford, December",
    ]
    assert titles("\n\n".join(f"{name}\n\n{BODY}\n\n{BODY}" for name in names)) == names


def test_volumes_that_have_the_books_name_keep_their_headings() -> None:
    """Whatever the file states as the title: the book's, or the first volume's."""
    for title in ("Les Misérables", "LES MISÉRABLES: TOME I", "A Tale"):
        blocks: list[Block] = []
        for volume in ("LES MISÉRABLES: TOME I", "LES MISÉRABLES: TOME II"):
            blocks.append(Block(volume, volume, 1))
            for chapter in ("Chapitre I", "Chapitre II"):
                blocks += [Block(chapter, chapter, 2), Block(BODY)]
        found = confirm(blocks, title)
        assert [(block.level, block.heading) for block in found if block.heading] == [
            (1, "LES MISÉRABLES: TOME I"),
            (2, "Chapitre I"),
            (2, "Chapitre II"),
            (1, "LES MISÉRABLES: TOME II"),
            (2, "Chapitre I"),
            (2, "Chapitre II"),
        ]


def test_parts_that_have_the_books_name_and_a_year_keep_their_headings() -> None:
    blocks: list[Block] = [Block("Poems: With a Life", "Poems", 1)]
    for year in ("Poems: 1817", "Poems: 1820"):
        blocks += [Block(year, year, 1), Block("To Hope", "To Hope", 2), Block(BODY)]
    headings = [block.heading for block in confirm(blocks, "Poems") if block.heading]
    assert headings == ["Poems: 1817", "To Hope", "Poems: 1820", "To Hope"]


def test_a_chapter_may_have_a_name_that_ends_as_the_authors() -> None:
    names = ["Capítulo I", "De Cervantes", "Capítulo II"]
    blocks = [block for name in names for block in (Block(name, name, 1), Block(BODY))]
    found = confirm(blocks, "Don Quijote", "Miguel Cervantes")
    assert [block.heading for block in found if block.heading] == names
    front = [Block("De Cervantes", "De Cervantes", 1), *blocks[:2], *blocks[4:]]
    found = confirm(front, "Don Quijote", "Miguel Cervantes")
    assert [block.heading for block in found if block.heading] == [names[0], names[2]]


def test_a_few_dates_in_a_novel_are_no_sections() -> None:
    dates = "\n\n".join(f"May {day}, 1890.\n\nA note." for day in (3, 4, 5))
    text = f"{book('CHAPTER I', 'CHAPTER II')}\n\n{dates}\n\n{book('CHAPTER III', 'CHAPTER IV')}"
    assert len(levels(text)) == 4
    assert titles(f"{BODY}\n\n3 May was a cold day.\n\n{BODY}") == []


@for_each(
    ("line", "value"),
    [
        ("CHAP. XII.", 12),
        ("Cap. III.", 3),
        ("Гл. 4", 4),
        ("Chapter #2", 2),
        ("Act 1, Scene 2", 1),
        ("Das erste Kapitel", 1),
        ("Erster Akt", 1),
        ("CHAPITRE Ier", 1),
        ("Chapitre dix-septième", 17),
        ("CHAPITRE SOIXANTE-DIX-NEUVIÈME", 79),
        ("Chapitre quatre-vingt-dix-neuf", 99),
        ("Parte prima", 1),
        ("SCENA SECONDA", 2),
        ("Capitolo ventesimo primo", 21),
        ("Capítulo veintidós", 22),
        ("Capítulo vigésimo primero", 21),
        ("Capítulo dezesseis", 16),
        ("Глава шестьдесят первая", 61),
        ("Книга перша", 1),
        ("Rozdział sześćdziesiąty", 60),
        ("Huszonegyedik fejezet", 21),
        ("Capitolul unsprezece", 11),
        ("Eenentwintigste hoofdstuk", 21),
        ("Kolmastoista luku", 13),
        ("I LUKU", 1),
        ("ΚΕΦΑΛΑΙΟ 1ο", 1),
        ("Κεφάλαιο εικοστό", 20),
        ("ALTINCI BÖLÜM", 6),
        ("KISIM I", 1),
        ("On birinci bölüm", 11),
        ("Yirmi birinci bölüm", 21),
        ("الفصل الحادي عشر", 11),
        ("الفصل الثاني عشر", 12),
        ("الفصل الخامس والعشرون", 25),
        ("فصل بیست و یکم", 21),
        ("פרק שנים עשר", 12),
        ("פרק עשרים ואחד", 21),
        ("ग्यारहवाँ अध्याय", 11),
        ("तेरहवां परिच्छेद", 13),
        ("Chương mười một", 11),
        ("Chương hai mươi mốt", 21),
        ("【第三章】", 3),
        ("正文 第二章 家", 2),
        ("《磨坊》第二章 家", 2),
        ("第三話「夜」", 3),
        ("その二", 2),
        ("＃ 第４章", 4),
        ("■第二章", 2),
        ("— Chapter 2 —", 2),
        ("*** Chapter 3 ***", 3),
        ("[CHAPTER 4]", 4),
    ],
)
def test_a_number_is_read_in_the_words_and_the_layout_of_its_language(
    line: str, value: int
) -> None:
    number = chapter_number(line)
    assert number and number.value == value


@for_each("line", ["番外一", "番外 其二", "大结局", "幕間", "외전", "Appendix", "Vorrede"])
def test_this_name_is_a_heading(line: str) -> None:
    assert is_chapter_line(line)


@for_each(
    "line",
    """— Chapitre deux, dit-il.|— Глава семьи|* Chapter after chapter|第一节课开始了|第一回合结束了
    一章一章地读|Teil der Familie|Akt der Gnade|Livre vie|(Chapter 3)|Erste Hilfe""".replace(
        "\n    ", "|"
    ).split("|"),
)
def test_this_line_is_still_no_chapter(line: str) -> None:
    assert not is_chapter_line(line)


@for_each(
    ("headings", "names"),
    [
        (["— I —", "— II —", "— III —"], ["I", "II", "III"]),
        (["- 1 -", "- 2 -", "- 3 -"], ["1", "2", "3"]),
        (["[1]", "[2]", "[3]"], ["1", "2", "3"]),
        (["* 1 *", "* 2 *", "* 3 *"], ["1", "2", "3"]),
        (["(١)", "(٢)", "(٣)"], ["(١)", "(٢)", "(٣)"]),
        (["◇ 1 ◇", "◇ 2 ◇"], ["1", "2"]),
        (["ONE", "TWO", "THREE"], ["ONE", "TWO", "THREE"]),
        (["Un", "Deux", "Trois"], ["Un", "Deux", "Trois"]),
        (["i", "ii", "iii"], ["i", "ii", "iii"]),
        (["I - The House", "II - The Road"], ["I - The House", "II - The Road"]),
        (["001 家", "002 路", "003 河"], ["001 家", "002 路", "003 河"]),
        (["1、家", "2、路", "3、河"], ["1、家", "2、路", "3、河"]),
        (["Day 1", "Day 2", "Day 3"], ["Day 1", "Day 2", "Day 3"]),
        (["Tale I", "Tale II", "Tale III"], ["Tale I", "Tale II", "Tale III"]),
        (["# The House", "# The Road"], ["The House", "The Road"]),
        (["The House\n=========", "The Road\n========"], ["The House", "The Road"]),
        (["-----\nChapter 1\n-----", "-----\nChapter 2\n-----"], ["Chapter 1", "Chapter 2"]),
    ],
)
def test_ornaments_are_no_part_of_a_heading(headings: list[str], names: list[str]) -> None:
    document = read_text(book(*headings), source="x", collection="c")
    assert [section.title for section in document.sections] == names
    for heading in headings:
        assert heading in document.text


def test_a_chapters_title_may_say_at_length_what_happens_in_it() -> None:
    names = [
        f"CHAPTER {number}. In Which {what} {'and Finds His Friend, the One and the Other, ' * 2}"
        f"Near {where}"
        for number, what, where in (("I", "He Comes", "Rome"), ("II", "He Goes", "Ely"))
    ]
    assert all(len(name) > 90 for name in names) and titles(book(*names)) == names
    names = [
        f"Capítulo {number}. Que trata de {what} {'y del famoso y valiente hidalgo ' * 3}de Toledo"
        for number, what in (("primero", "la casa"), ("segundo", "la venta"))
    ]
    assert all(len(name) > 90 for name in names) and titles(book(*names)) == names
    paragraph = f"CHAPTER I. He went home. {'And so he went on and on. ' * 4}Nobody knew."
    assert not is_chapter_line(paragraph)


@for_each(
    "lines",
    [
        ["1. Take the lamp to the weir.", "2. Light it there.", "3. Come back home."],
        ["10:15", "10:40", "11:05"],
        ["Day 1", "Day 2", "Day 3"],
        ["One", "Two", "Three"],
        ["# not a heading, but a tag.", "# another one, too."],
    ],
)
def test_short_lines_without_chapters_below_them_are_no_headings(lines: list[str]) -> None:
    listed = "\n\n".join(f"{line}\n\nIt was so." for line in lines)
    assert titles(f"{BODY}\n\n{listed}\n\n{BODY}\n\n{BODY}") == []


@for_each("word", ["Page", "Seite", "Figure", "Plate"])
def test_numbers_of_pages_and_pictures_are_no_headings(word: str) -> None:
    assert titles(book(f"{word} 1", f"{word} 2", f"{word} 3")) == []
