"""Run the cases from public bug reports as a user would, with the program, and say which are right.

`python scripts/try_cases.py FOLDER [NUMBER...]`: FOLDER has a folder for each case, whose name
begins with its number, and `endpoint.py`, a small endpoint with one fault. Every file goes into a
collection of its own by `fabula ingest`, and what is in the graph is read by `fabula cypher`. The
exit code is the number of cases that are not right.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZipFile

_FABULA = Path(sys.executable).with_name("fabula")
_SECONDS = 300
"""How long a command may take."""
_START_SECONDS = 10.0
"""How long the endpoint may take to start."""
_DOCUMENTS = (
    "MATCH (d:Document {collection: $collection}) RETURN d.title AS title, d.author AS author"
)
_CHUNKS = (
    "MATCH (c:Chunk {collection: $collection}) "
    "RETURN c.text AS text, c.section AS section ORDER BY c.document, c.start"
)
_SUMMARIES = (
    "MATCH (n {collection: $collection}) WHERE n.text IS NOT NULL AND NOT n:Chunk "
    "RETURN n.text AS text"
)


@dataclass
class Book:
    """What a command said, and what is in the graph after it."""

    code: int
    output: str
    documents: list[dict[str, Any]] = field(default_factory=list)
    chunks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of all documents."""
        return "".join(chunk["text"] for chunk in self.chunks)

    @property
    def sections(self) -> list[str]:
        """The names of the sections, in text order."""
        return list(dict.fromkeys(chunk["section"] for chunk in self.chunks if chunk["section"]))


class User:
    """A person at the command line, in an empty home."""

    def __init__(self, folder: Path, work: Path) -> None:
        """Work with the cases in a folder."""
        self.folder = folder
        self.work = work
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("FABULA_", "OPENAI_", "XDG_", "NEO4J_"))
        } | {"HOME": str(work), "COLUMNS": "200", "FABULA_CACHE": "false"}
        self._count = 0

    def run(self, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `fabula` with arguments."""
        return subprocess.run(  # noqa: PLW1510  the exit code is what is tried
            [_FABULA, *map(str, arguments)],
            env=self.environment | environment,
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )

    def collection(self) -> str:
        """Return the name of a new collection."""
        self._count += 1
        return f"case-{self._count}"

    def ingest(self, file: str | Path, collection: str = "", **environment: str) -> Book:
        """Take a file into a collection, and read what is in the graph."""
        name = collection or self.collection()
        done = self.run("ingest", self.folder / file, "--collection", name, **environment)
        book = Book(done.returncode, done.stdout + done.stderr)
        book.documents = self.rows(_DOCUMENTS, name)
        book.chunks = self.rows(_CHUNKS, name)
        return book

    def rows(self, statement: str, collection: str) -> list[dict[str, Any]]:
        """Return the rows of a Cypher statement."""
        done = self.run("cypher", "-c", collection, "--json", "-e", statement)
        rows: list[dict[str, Any]] = json.loads(done.stdout) if done.returncode == 0 else []
        return rows

    def best(self, question: str, collection: str) -> str:
        """Return the text of the first chunk that hybrid search finds."""
        options = ("--mode", "hybrid", "--kind", "chunk", "--top-k", "1", "--json")
        done = self.run("query", question, "-c", collection, *options)
        hits = json.loads(done.stdout)["hits"] if done.returncode == 0 else []
        return str(hits[0]["text"]) if hits else ""

    @contextmanager
    def endpoint(
        self, mode: str, path: str = "/v1", **settings: str
    ) -> Iterator[Mapping[str, str]]:
        """Start an endpoint with one fault; yields the settings that use it."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, self.folder / "endpoint.py", str(port), mode],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            end = time.monotonic() + _START_SECONDS
            while time.monotonic() < end:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield {
                "OPENAI_BASE_URL": f"http://127.0.0.1:{port}{path}",
                "OPENAI_API_KEY": "none",
                "FABULA_MODEL": "m",
                **settings,
            }
        finally:
            process.kill()
            process.wait()

    def build(self, case: str, mode: str, path: str = "/v1", **settings: str) -> Built:
        """Take the story of a case in with a faulty endpoint, and ask a question about it."""
        name = self.collection()
        file = next(path for path in (self.folder / case).iterdir() if path.suffix == ".txt")
        models = {"FABULA_EMBEDDING_MODEL": "wordllama-256", **settings}
        with self.endpoint(mode, path, **models) as environment:
            book = self.ingest(file, name, **environment)
            answer = self.run("query", "Who kept a lantern?", "-c", name, **environment)
        texts = [row["text"] for row in self.rows(_SUMMARIES, name)]
        return Built(book, answer.returncode, answer.stdout + answer.stderr, texts)


@dataclass
class Built:
    """What a faulty endpoint has left in the graph and in an answer."""

    book: Book
    code: int
    answer: str
    summaries: list[str]

    @property
    def everything(self) -> str:
        """All that a user can read."""
        return "\n".join((self.book.output, self.answer, *self.summaries))


Check = Callable[[User], Iterator[tuple[str, bool]]]
CASES: dict[str, Check] = {}


def case(name: str) -> Callable[[Check], Check]:
    """Register the check of a case, by the name of its folder."""

    def register(check: Check) -> Check:
        CASES[name] = check
        return check

    return register


@case("01-two-books-in-one-file")
def two_books(user: User) -> Iterator[tuple[str, bool]]:
    """Both books are read, and nothing of the library."""
    text = user.ingest("01-two-books-in-one-file/two-books.txt").text
    yield "first book", "ZEBRAONE ended the first tale." in text
    yield "second book", "ZEBRATWO ended the second tale." in text
    yield "no licence", "Gutenberg" not in text


@case("04-other-libraries")
def other_libraries(user: User) -> Iterator[tuple[str, bool]]:
    """What libraries put around a book is not in it."""
    google = user.ingest("04-other-libraries/google.txt").text
    yield "Google's guidelines", "automated querying" not in google and "Google" not in google
    archive = user.ingest("04-other-libraries/ia-ocr.txt").text
    yield (
        "Internet Archive's credit",
        "Digitized by" not in archive and "archive.org" not in archive,
    )
    australia = user.ingest("04-other-libraries/pg-australia.txt")
    yield "header", "eBook No" not in australia.text and "treasure-trove" not in australia.text
    yield "title", australia.documents == [{"title": "The Kettle", "author": "Ann Example"}]


@case("05-aozora")
def aozora(user: User) -> Iterator[tuple[str, bool]]:
    """Aozora's signs are not text, and its headings are sections."""
    file = user.folder / "05-aozora/aozora-sjis.txt"
    head = file.read_bytes().decode("cp932").split()
    book = user.ingest(file)
    yield "title, author", book.documents == [{"title": head[0], "author": head[1]}]
    yield "no signs", not re.search("[《》｜]|［＃|底本|テキスト中", book.text)
    yield "sections", len(book.sections) > 0


@case("06-hyphens-at-line-ends")
def hyphens(user: User) -> Iterator[tuple[str, bool]]:
    """Words parted at a line's end are whole."""
    for name in ("hyphen", "not", "soft"):
        text = user.ingest(f"06-hyphens-at-line-ends/eol-{name}.txt").text
        yield name, all(word in text for word in ("daughters", "meadow", "village"))
        yield f"{name}: none parted", not re.search("daugh\\W+ters|mea\\W+dow|vil\\W+lage", text)


@case("07-old-code-pages")
def old_code_pages(user: User) -> Iterator[tuple[str, bool]]:
    """Texts in old code pages are read as what they are, or with a word."""
    words = {"fr": "près de l", "pl": "młynarz", "ru": "мельник"}
    for file in sorted((user.folder / "07-old-code-pages").glob("*.txt")):
        book = user.ingest(file)
        yield file.name, words[file.name[:2]] in book.text.lower()


@case("10-chapters-in-other-scripts")
def chapters(user: User) -> Iterator[tuple[str, bool]]:
    """Each file has two chapters."""
    for file in sorted((user.folder / "10-chapters-in-other-scripts").glob("*.txt")):
        sections = user.ingest(file).sections
        yield f"{file.name}: {sections}", len(sections) == 2


@case("11-chinese-wrapped-lines")
def chinese_lines(user: User) -> Iterator[tuple[str, bool]]:
    """Chinese prose has no space where a line ended."""
    for name in ("zh-wrap35.txt", "zh-wrap50.txt"):
        text = user.ingest(f"11-chinese-wrapped-lines/{name}").text
        yield name, "她的哥哥带着" in text
        yield f"{name}: no spaces", not re.search("[\u4e00-\u9fff][ \n][\u4e00-\u9fff]", text)


@case("12-diary-entries")
def diary(user: User) -> Iterator[tuple[str, bool]]:
    """Each dated entry is a section."""
    for name, dates in (("diary", ["3 May", "4 May"]), ("diary2", [])):
        sections = user.ingest(f"12-diary-entries/{name}.txt").sections
        yield f"{name}: {sections}", len(sections) >= 2
        yield name, all(any(date in section for section in sections) for date in dates)


@case("13-repeated-chapter-titles")
def repeated_titles(user: User) -> Iterator[tuple[str, bool]]:
    """A citation says which CHAPTER I it is."""
    name = user.collection()
    book = user.ingest("13-repeated-chapter-titles/repeated.txt", name)
    first = [section for section in book.sections if section.endswith("CHAPTER I")]
    yield f"paths: {book.sections}", len(first) == 2
    yield "books", any("SECOND" in section for section in first)
    yield "no chunk is a heading", all(len(chunk["text"].split()) > 8 for chunk in book.chunks)
    for path in first:
        opened = user.run("read", "--at", path, "-c", name)
        yield f"opened: {path}", opened.returncode == 0


@case("14-two-encodings-in-one-file")
def two_encodings(user: User) -> Iterator[tuple[str, bool]]:
    """Both encodings are read right."""
    text = user.ingest("14-two-encodings-in-one-file/mixed.txt").text
    yield "était, déjà", "était" in text and "déjà" in text
    yield "no mojibake", "Ã" not in text


def _found(user: User, file: str, words: str) -> Iterator[tuple[str, bool]]:
    """Whether a chunk with a word, or its other spelling, is the first that a search finds."""
    name = user.collection()
    user.ingest(file, name)
    for word in words.split():
        question, _, printed = word.partition("=")
        yield question, (printed or question) in user.best(question, name)


@case("15-ligatures-and-long-s")
def ligatures(user: User) -> Iterator[tuple[str, bool]]:
    """Words with ligatures and long s are found by their usual letters."""
    words = "officer=oﬃcer flautist=ﬂautist fiddle=ﬁddle raffle=raﬄe firkin=ﬁrkin "
    words += "fletcher=ﬂetcher sexton=ſexton psalm=pſalm"
    yield from _found(user, "15-ligatures-and-long-s/ligature.txt", words)


@case("16-possessives")
def possessives(user: User) -> Iterator[tuple[str, bool]]:
    """A name is found by its possessive."""
    names = "Drummond Pettigrew Oglethorpe Quillfeather Hambleton Threlkeld Wigglesworth Babcock"
    yield from _found(user, "16-possessives/big-poss.txt", names)


@case("19-thai-words")
def thai(user: User) -> Iterator[tuple[str, bool]]:
    """Words of Thai are found."""
    yield from _found(user, "19-thai-words/thai.txt", "มาลี สมชาย นาฬิกา")


@case("20-epub-missing-page")
def missing_page(user: User) -> Iterator[tuple[str, bool]]:
    """The other pages are read, and the missing one is named."""
    book = user.ingest("20-epub-missing-page/e-missing-file.epub")
    yield f"sections: {book.sections}", len(book.sections) == 2
    yield "named", "gone.xhtml" in book.output


def _two_sections(user: User, *files: str) -> Iterator[tuple[str, bool]]:
    for file in files:
        book = user.ingest(file)
        yield f"{file}: {book.sections}", len(book.documents) == 1 and len(book.sections) == 2


@case("21-epub-backslashes")
def backslashes(user: User) -> Iterator[tuple[str, bool]]:
    """Both pages are read."""
    yield from _two_sections(user, "21-epub-backslashes/e-backslash.epub")


@case("23-epub-broken-contents")
def broken_contents(user: User) -> Iterator[tuple[str, bool]]:
    """A broken table of contents costs its labels."""
    names = ("e-ncx-amp", "e-ncx-entity")
    yield from _two_sections(user, *(f"23-epub-broken-contents/{name}.epub" for name in names))


@case("25-xhtml-with-doctype-subset")
def doctype(user: User) -> Iterator[tuple[str, bool]]:
    """Entities of a DOCTYPE are characters."""
    text = user.ingest("25-xhtml-with-doctype-subset/e-xhtml-doctype-entity.epub").text
    yield "dashes", "—" in text
    yield "nothing else", "]>" not in text and "&D;" not in text


@case("26-epub-rights-without-encryption")
def rights(user: User) -> Iterator[tuple[str, bool]]:
    """Nothing is encrypted, so the book is read."""
    book = user.ingest("26-epub-rights-without-encryption/e-rights.epub")
    yield "read", book.code == 0 and len(book.documents) == 1


@case("27-epub-as-folder")
def epub_folder(user: User) -> Iterator[tuple[str, bool]]:
    """A folder that is an EPUB is one document."""
    folder = user.work / "shelf" / "book.epub"
    with ZipFile(user.folder / "27-epub-as-folder/book.zip") as book:
        book.extractall(folder)
    for path in (folder, folder.parent):
        book_read = user.ingest(path)
        titles = [document["title"] for document in book_read.documents]
        yield f"{path.name}: {titles}", titles == ["The Kettle"]
        yield f"{path.name}: {book_read.sections}", len(book_read.sections) == 2


@case("29-epub-ruby")
def ruby(user: User) -> Iterator[tuple[str, bool]]:
    """Readings are not in the line."""
    text = user.ingest("29-epub-ruby/e-rb.epub").text
    yield text[:60], "老いた粉屋は堰のそばに灯をともした。水車は止まった。" in text


@case("30-epub-note-numbers")
def note_numbers(user: User) -> Iterator[tuple[str, bool]]:
    """Numbers of notes are not glued to words."""
    text = user.ingest("30-epub-note-numbers/e-footnote.epub").text
    yield "apart", not re.search(r"geese1|again2|ferry3", text)
    yield "words", all(word in text for word in ("geese", "again", "ferry"))


@case("32-xml-in-gbk")
def gbk(user: User) -> Iterator[tuple[str, bool]]:
    """XML in GBK is read."""
    for name in ("e-gbk-opf.epub", "f-gbk.fb2"):
        book = user.ingest(f"32-xml-in-gbk/{name}")
        yield f"{name}: {book.documents}", book.code == 0 and len(book.documents) == 1


@case("33-docx-heading-levels")
def docx_headings(user: User) -> Iterator[tuple[str, bool]]:
    """Headings by style, outline level and name are sections."""
    for name in ("d-based", "d-outline", "d-pages"):
        sections = user.ingest(f"33-docx-heading-levels/{name}.docx").sections
        joined = " ".join(sections)
        yield f"{name}: {sections}", "The Copper Kettle" in joined and "The Silver Spoon" in joined


@case("34-docx-text-box")
def text_boxes(user: User) -> Iterator[tuple[str, bool]]:
    """The text of a text box is read once."""
    for name in ("d-textbox-alt", "d-textbox-nofallback", "d-textbox"):
        text = user.ingest(f"34-docx-text-box/{name}.docx").text
        yield name, text.count("BOXED") == 1


@case("38-tei-entities")
def tei_entities(user: User) -> Iterator[tuple[str, bool]]:
    """Entities for characters are read."""
    for name in ("x-p4-entities", "x-undefined-entity"):
        text = user.ingest(f"38-tei-entities/{name}.xml").text
        yield name, "—" in text and "&" not in text


@case("40-tei-words")
def tei_words(user: User) -> Iterator[tuple[str, bool]]:
    """No space stands before a comma."""
    text = user.ingest("40-tei-words/x-words.xml").text
    yield text[:60], "The miller ſlept," in text and not re.search(r" [,.]", text)


@case("41-fb2-not-well-formed")
def broken_fb2(user: User) -> Iterator[tuple[str, bool]]:
    """FB2 is read as e-book readers do."""
    for name in ("f-amp", "f-ctrl", "f-nbsp"):
        text = user.ingest(f"41-fb2-not-well-formed/{name}.fb2").text
        yield name, "мельник" in text.lower()


@case("44-pdf-titles")
def pdf_titles(user: User) -> Iterator[tuple[str, bool]]:
    """What a program wrote is no title."""
    for name in ("The Copper Kettle", "The Glass Key", "The Iron Gate"):
        file = f"44-pdf-titles/{name.lower().replace(' ', '-')}.pdf"
        documents = user.ingest(file).documents
        yield f"{documents}", documents == [{"title": name, "author": ""}]


@case("45-pdf-soft-hyphens")
def pdf_hyphens(user: User) -> Iterator[tuple[str, bool]]:
    """Words parted at a line's end are whole."""
    text = user.ingest("45-pdf-soft-hyphens/p-hyph.pdf").text
    yield "whole", "daughters" in text and "meadow" in text


@case("48-think-close")
def think_close(user: User) -> Iterator[tuple[str, bool]]:
    """No thought is in a summary or an answer."""
    built = user.build("48-think-close", "think-close")
    yield "built", built.book.code == 0 and len(built.summaries) > 0
    yield "no thoughts", not re.search("SECRETTHOUGHT|</?think>", built.everything)


@case("49-think-in-a-stream")
def think_stream(user: User) -> Iterator[tuple[str, bool]]:
    """No thought is in an answer that is streamed."""
    built = user.build("49-think-in-a-stream", "think-stream")
    yield "answered", built.code == 0 and "lantern" in built.answer
    yield "no thoughts", not re.search("SECRETTHOUGHT|</?think>", built.everything)


@case("51-error-within-a-choice")
def choice_error(user: User) -> Iterator[tuple[str, bool]]:
    """Half a reply is no summary."""
    built = user.build("51-error-within-a-choice", "choice-error")
    yield "no half summary", "The miller kept" not in [text.strip() for text in built.summaries]
    yield "a message", bool(built.summaries) or built.book.code != 0


@case("54-cut-at-length")
def cut_at_length(user: User) -> Iterator[tuple[str, bool]]:
    """A cut reply is reported."""
    built = user.build("54-cut-at-length", "cut-at-length")
    yield built.book.output[-300:], bool(re.search("cut|length|token limit", built.book.output))


@case("55-embedding-batch")
def embedding_batch(user: User) -> Iterator[tuple[str, bool]]:
    """Batches shrink to what the endpoint takes."""
    built = user.build("55-embedding-batch", "batch-10", FABULA_EMBEDDING_MODEL="e")
    message = "FABULA_EMBEDDING_BATCH" in built.book.output
    yield built.book.output[-300:], message or (built.book.code == 0 and built.code == 0)


@case("57-no-system-role")
def no_system_role(user: User) -> Iterator[tuple[str, bool]]:
    """Instructions go into the user's message."""
    built = user.build("57-no-system-role", "no-system")
    yield built.book.output[-300:], built.book.code == 0 and len(built.summaries) > 0


@case("59-json-as-text")
def json_as_text(user: User) -> Iterator[tuple[str, bool]]:
    """JSON that comes as text/plain is read."""
    built = user.build("59-json-as-text", "text-plain")
    yield built.book.output[-300:], built.book.code == 0 and built.code == 0


@case("61-azure-by-deployment")
def azure(user: User) -> Iterator[tuple[str, bool]]:
    """Azure's addresses and key work."""
    path = "/openai/deployments/m?api-version=2024-10-21"
    built = user.build("61-azure-by-deployment", "azure", path)
    yield built.book.output[-300:], built.book.code == 0 and built.code == 0


@case("62-truncated-prompt")
def truncated_prompt(user: User) -> Iterator[tuple[str, bool]]:
    """A prompt that was cut is reported."""
    built = user.build("62-truncated-prompt", "truncated-prompt")
    yield built.book.output[-400:], "context" in built.book.output


@case("63-vectors-all-numbered-0")
def vectors_numbered_0(user: User) -> Iterator[tuple[str, bool]]:
    """Vectors are taken in the order they come."""
    built = user.build("63-vectors-all-numbered-0", "index-0", FABULA_EMBEDDING_MODEL="e")
    yield built.book.output[-300:], built.book.code == 0 and built.code == 0


@case("64-reply-in-reasoning-only")
def reasoning_only(user: User) -> Iterator[tuple[str, bool]]:
    """The reply is used, or the message says where it is."""
    built = user.build("64-reply-in-reasoning-only", "reasoning-only")
    used = built.book.code == 0 and len(built.summaries) > 0
    yield built.book.output[-300:], used or "reasoning" in built.book.output


@case("65-stream-ignored")
def stream_ignored(user: User) -> Iterator[tuple[str, bool]]:
    """The answer is printed."""
    built = user.build("65-stream-ignored", "stream-ignored")
    yield built.answer[-300:], built.code == 0 and "lantern" in built.answer


@case("66-makers-note-before-the-end")
def makers_note(user: User) -> Iterator[tuple[str, bool]]:
    """A note costs its paragraph at most."""
    for name in ("long-note-near-end", "short-note-first", "short-pg-first"):
        text = user.ingest(f"66-makers-note-before-the-end/{name}.txt").text
        yield name, "The lantern went out for good." in text


def main(folder: Path, numbers: list[str]) -> int:
    """Try the cases, print what each did, and return how many are not right."""
    chosen = {name: check for name, check in CASES.items() if not numbers or name[:2] in numbers}
    work = Path(tempfile.mkdtemp(prefix="fabula-cases-"))
    user = User(folder.resolve(), work)
    wrong = 0
    try:
        for name, check in chosen.items():
            results = list(check(user))
            failed = [what for what, right in results if not right]
            wrong += bool(failed)
            print(f"{'WRONG' if failed else 'right'}  {name}", flush=True)
            for what in failed:
                print(f"       {' '.join(what.split())}", flush=True)
    finally:
        user.run("db", "stop")
        shutil.rmtree(work, ignore_errors=True)
    print(f"{len(chosen) - wrong} of {len(chosen)} cases are right.")
    return wrong


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
