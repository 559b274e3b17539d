"""What a file costs: time, memory, blocks and text, whatever is in it; nothing else is harmed."""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from book_files import BOOKS, SENTENCE
from cases import for_each
from fabula.errors import LoadError
from fabula.load import load, sandbox
from fabula.load.encoding import decode

pytestmark = pytest.mark.waits

LIMIT = 64_000_000
SEED = 412
WITHOUT_END = "![" * 500_000
"""A minute and a half of Markdown."""


def children() -> list[psutil.Process]:
    """The processes in which this one has files read."""
    return [child for child in psutil.Process().children() if "fabula.load" in child.cmdline()]


def read_in_box(text: str | bytes, suffix: str, limits: sandbox.ReadLimits) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    sandbox.read(data, suffix, f"story{suffix}", LIMIT, 4 * LIMIT, limits)


def until(happens: Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)


# The budget


def test_what_takes_too_long_is_given_up() -> None:
    began = time.monotonic()
    with pytest.raises(LoadError, match=r"^story\.md takes more than 1 seconds to read.*Split it"):
        read_in_box(WITHOUT_END, ".md", sandbox.ReadLimits(seconds=1))
    assert time.monotonic() - began < 30


@for_each("piece", ['Élan<img alt="A"> vital ', '<span class="x">“Élan</span> vital<br>'])
def test_much_markup_in_one_paragraph_takes_linear_time(piece: str) -> None:
    """Comparing the paragraph so far at each piece took more than a minute."""
    read_in_box(f"<p>{piece * 10_000}</p>", ".html", sandbox.ReadLimits(seconds=15))


@pytest.mark.skipif(sys.platform == "win32", reason="no process can be suspended")
def test_time_that_a_process_does_not_get_is_not_counted() -> None:
    read_in_box(SENTENCE, ".md", sandbox.ReadLimits(seconds=1))
    waiting = children()
    for child in waiting:
        child.suspend()
    with ThreadPoolExecutor() as threads:
        reading = threads.submit(read_in_box, SENTENCE, ".md", sandbox.ReadLimits(seconds=1))
        time.sleep(1.5)
        for child in waiting:
            child.resume()
        reading.result()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't hold to the limit")
@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".md", "|" + "a|" * 60_000 + "\n|" + "-|" * 60_000 + "\n"),
        (".txt", "word " * 5_000_000),
        (".html", "<p>" + "a" * 20_000_000),
    ],
    ids=["table", "plain text", "page"],
)
def test_what_takes_too_much_memory_is_given_up(suffix: str, text: str) -> None:
    message = r"^story\.\w+ (takes more than 0\.1 GB of memory|can't be read as HTML: .*memory)"
    read_in_box(SENTENCE, suffix, sandbox.ReadLimits(memory=100_000_000))
    with pytest.raises(LoadError, match=message):
        read_in_box(text, suffix, sandbox.ReadLimits(memory=100_000_000))


def test_a_page_comes_once_however_often_the_spine_names_it(tmp_path: Path) -> None:
    package = (
        '<package><manifest><item id="a" href="a.xhtml" media-type="text/html"/></manifest>'
        "<spine>" + '<itemref idref="a"/>' * 5000 + "</spine></package>"
    )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr(
            "META-INF/container.xml", '<container><rootfile full-path="c.opf"/></container>'
        )
        book.writestr("c.opf", package)
        book.writestr("a.xhtml", f"<p>{SENTENCE * 100}</p>")
    file = tmp_path / "spine.epub"
    file.write_bytes(data.getvalue())
    assert len(load(file, "default", LIMIT).text) == len(SENTENCE * 100) - 1


def test_more_blocks_than_any_book_has_are_refused() -> None:
    read_in_box("<p>One.<p>Two.", ".html", sandbox.ReadLimits(blocks=2))
    with pytest.raises(
        LoadError, match=r"^story\.html has 3 paragraphs.* at most 2 are allowed: split it"
    ):
        read_in_box("<p>One.<p>Two.<p>Three.", ".html", sandbox.ReadLimits(blocks=2))


def test_a_book_that_defines_entities_by_others_is_refused_in_utf_16_as_well(
    tmp_path: Path,
) -> None:
    package = (
        '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE p [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
        "<p>&b;</p>"
    )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as book:
        book.writestr(
            "META-INF/container.xml", '<container><rootfile full-path="c.opf"/></container>'
        )
        book.writestr("c.opf", package.encode("utf-16"))
    file = tmp_path / "laughs.epub"
    file.write_bytes(data.getvalue())
    with pytest.raises(LoadError, match="defines XML entities"):
        load(file, "default", LIMIT)


# The process


@pytest.mark.journey
def test_one_process_reads_file_after_file(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}.md").write_text(f"{SENTENCE} {number}")
        assert load(tmp_path / f"{number}.md", "default", LIMIT).text.endswith(str(number))
    before = {child.pid for child in children()}
    load(tmp_path / "0.md", "default", LIMIT)
    assert {child.pid for child in children()} == before


def test_a_process_that_was_killed_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(SENTENCE)
    load(tmp_path / "a.md", "default", LIMIT)
    for child in children():
        child.kill()
        child.wait()
    assert load(tmp_path / "a.md", "default", LIMIT).text == SENTENCE.strip()


@pytest.mark.journey
def test_a_reader_that_crashes_takes_only_its_file_with_it(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_text(WITHOUT_END)
    (tmp_path / "good.md").write_text(SENTENCE)
    with ThreadPoolExecutor(2) as threads:
        bad = threads.submit(load, tmp_path / "bad.md", "default", LIMIT)

        def busy() -> list[psutil.Process]:
            return [child for child in children() if sum(child.cpu_times()[:2]) > 1]

        until(busy)
        assert load(tmp_path / "good.md", "default", LIMIT).text == SENTENCE.strip()
        for child in busy():
            child.send_signal(signal.SIGSEGV)
        with pytest.raises(LoadError, match=r"bad\.md crashed its reader \(status -11\)"):
            bad.result()
    assert load(tmp_path / "good.md", "default", LIMIT).text == SENTENCE.strip()


def test_several_threads_read_at_once_and_share_few_processes(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.html" for number in range(60)]
    for file in files:
        file.write_text(f"<p>{SENTENCE}{file.stem}</p>")
    with ThreadPoolExecutor(8) as threads:
        texts = list(threads.map(lambda file: load(file, "default", LIMIT).text, files))
    assert texts == [f"{SENTENCE}{file.stem}" for file in files]
    assert len(children()) <= 4


def test_a_reader_knows_no_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for child in children():
        child.kill()
        child.wait()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    (tmp_path / "a.md").write_text(SENTENCE)
    load(tmp_path / "a.md", "default", LIMIT)
    assert children()
    assert all("OPENAI_API_KEY" not in child.environ() for child in children())


SCRIPT = """
import os, signal, sys
# Whoever runs the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from pathlib import Path
from fabula.load import load
from fabula.errors import LoadError
file = Path(sys.argv[1])
print(load(file, "default", 64_000_000).text, flush=True)
if len(sys.argv) > 2:
    load(Path(sys.argv[2]), "default", 64_000_000)
elif not os.fork():
    print(load(file, "default", 64_000_000).text, flush=True)
else:
    os.wait()
    print(load(file, "default", 64_000_000).text, flush=True)
"""


def script(folder: Path, *files: Path) -> subprocess.Popen[str]:
    """A program of somebody else's, which does without `if __name__ == "__main__"`."""
    (folder / "run.py").write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, "-P", folder / "run.py", *files],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_program_reads_files_and_so_does_what_it_forks(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Once upon a time.")
    for name in ("json.py", "html.py", "fabula.py"):
        (tmp_path / name).write_text("raise SystemExit('code of the folder was run')")
    output, errors = script(tmp_path, tmp_path / "a.md").communicate(timeout=240)
    assert (output, errors) == ("Once upon a time.\n" * 3, "")


def test_ctrl_c_leaves_no_process_behind(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Once upon a time.")
    (tmp_path / "bad.md").write_text(WITHOUT_END)
    program = script(tmp_path, tmp_path / "a.md", tmp_path / "bad.md")
    assert program.stdout and program.stdout.readline() == "Once upon a time.\n"
    [reader] = psutil.Process(program.pid).children()
    until(lambda: sum(reader.cpu_times()[:2]) > 0.5)
    began = time.monotonic()
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=240)
    assert time.monotonic() - began < 30, "long before the reader's own end"
    assert errors.strip().endswith("KeyboardInterrupt")
    assert not reader.is_running()


# UTF-16

TEXTS = {
    "English": "Once upon a time there was a keeper.\r\nHe lit the lamp at six.\r\n",
    "Polish": "Zażółć gęślą jaźń, pchnąć w tę łódź jeża. " * 3,
    "Russian": "Жили-были старик со старухой. У них была курочка.\n",
    "Arabic": "مرحبا بالعالم. كيف حالك اليوم؟ ",
    "Hindi": "एक समय की बात है, एक शेर और एक चूहा था।\n",
    "Chinese": "一天，北風和太陽在爭論誰比較強。\n\u3000\u3000「當然是我」北風說。\n",
    "Japanese": "吾輩は猫である。名前はまだ無い。\nどこで生れたかとんと見当がつかぬ。\n",
    "Korean": "안녕하세요 세계. 옛날 옛적에 호랑이가 살았습니다.\n",
    "emoji": "A 👩 word 😀 here.\n",
}


@for_each("order", ["utf-16", "utf-16-le", "utf-16-be"])
@for_each("language", TEXTS)
def test_utf_16_is_read_with_and_without_its_mark(language: str, order: str) -> None:
    text = TEXTS[language]
    assert decode(text.encode(order), "x") == text
    assert decode((text * 500).encode(order), "x") == text * 500


@given(st.text(st.characters(min_codepoint=32, max_codepoint=0x17F, exclude_categories=["C"])))
@settings(deadline=None, max_examples=200)
def test_any_words_in_latin_letters_are_read_as_utf_16(words: str) -> None:
    text = f"It was said: {words}\n"
    for order in ("utf-16-le", "utf-16-be"):
        assert decode(text.encode(order), "x") == text


# Any bytes

PIECES = (
    *(
        b"<b>",
        b"</i>",
        b"<p>",
        b"<!--",
        b"]]>",
        b"&#x110000;",
        b"<svg><title>",
        b"![",
        b"](",
        b"> ",
    ),
    *(
        b"|",
        b"\n---\n",
        b"```",
        b"\0",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\r",
        b"%PDF-",
        b"PK\x03\x04",
    ),
    *(
        b"{\\footnote ",
        b"{\\*",
        b"}",
        b"\\u-1 ?",
        b"\\'b3",
        b"\\bin9 ",
        b"<title>",
        b"<note>",
        b"</p>",
    ),
    *(b"endobj", b" 0 R", b"<<", b">>", b"[", b"/Kids", b"/Length 99999999", b"-1", b"1e999"),
)


def mutated(data: bytes, draw: random.Random) -> bytes:
    """`data` with up to eight things done to it."""
    for _ in range(draw.randint(1, 8)):
        start = draw.randint(0, len(data))
        end = min(len(data), start + draw.choice([1, 1, 4, 30, 300]))
        part = data[start:end]
        piece = draw.choice(PIECES) * draw.choice([1, 1, 1, 3, 100, 1000])
        change = draw.choice([piece, part * draw.choice([0, 2, 50]), draw.randbytes(len(part))])
        data = data[:start] + change + data[end:]
    return data


def read_mutated(folder: Path, seed: int, count: int) -> None:
    """Each is a document or a sentence, and nothing is left of it afterwards."""
    draw = random.Random(seed)
    for number in range(count):
        suffix = draw.choice(list(BOOKS))
        source = draw.choice(list(BOOKS)) if draw.random() < 0.1 else suffix
        file = folder / f"{number}{suffix}"
        file.write_bytes(mutated(BOOKS[source], draw))
        began = time.monotonic()
        try:
            assert load(file, "default", LIMIT).text
        except LoadError as error:
            assert file.name in str(error), f"seed {seed}: {error}"
            assert "\n" not in str(error), f"seed {seed}: {error!r}"
        seconds = time.monotonic() - began
        assert seconds < 60, f"seed {seed}: {file.name} took {seconds:.0f} s"
    good = folder / "good.md"
    good.write_text(SENTENCE)
    assert load(good, "default", LIMIT).text == SENTENCE.strip()


def test_any_bytes_are_a_document_or_a_sentence(tmp_path: Path) -> None:
    read_mutated(tmp_path, SEED, 120)


@pytest.mark.nightly
def test_many_more_bytes_are_a_document_or_a_sentence(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    sys.stdout.write(f"seed {seed}\n")
    read_mutated(tmp_path, seed, 2000)
