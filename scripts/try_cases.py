"""Run the cases from public bug reports as a user would, with the program, and say which are right.

`python scripts/try_cases.py [FOLDER] [NUMBER...]`: FOLDER, `../shared/cases` if none is given, has
a folder for each case, whose name begins with its number, and `endpoint.py`, a small endpoint with
one fault. Every file goes into a collection of its own by `fabula ingest`, and what is in the graph
is read by `fabula cypher`. The exit code is the number of cases that are not right.
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
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from zipfile import ZipFile

_FABULA = Path(sys.executable).with_name("fabula")
_CASES = Path(__file__).parents[2] / "shared/cases"
_SECONDS = 600
"""How long a command may take."""
_START_SECONDS = 10.0
"""How long the endpoint may take to start."""
_SERVICE_SECONDS = 120.0
"""The same of the service, which starts Neo4j first."""
_CONTENTS = (
    "MATCH (n {collection: $collection}) WHERE n:Document OR n:Chunk "
    "RETURN CASE WHEN n:Document THEN n {.title, .author} END AS document, "
    "CASE WHEN n:Chunk THEN n {.text, .section} END AS chunk ORDER BY n.document, n.start"
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
        self.count = 0
        # Neo4j's jars that were fetched for this user are not fetched again.
        if (jars := Path.home() / ".m2").is_dir():
            (work / ".m2").symlink_to(jars, target_is_directory=True)

    def run(self, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `fabula` with arguments."""
        return subprocess.run(  # noqa: PLW1510  the exit code is what is tried
            [_FABULA, *map(str, arguments)],
            env=self.environment | environment,
            cwd=self.work,
            capture_output=True,
            encoding=environment.get("PYTHONIOENCODING", "utf-8"),
            timeout=_SECONDS,
        )

    def collection(self) -> str:
        """Return the name of a new collection."""
        self.count += 1
        return f"case-{self.count}"

    def ingest(self, file: str | Path, collection: str = "", **environment: str) -> Book:
        """Take a file into a collection, and read what is in the graph."""
        name = collection or self.collection()
        done = self.run("ingest", self.folder / file, "--collection", name, **environment)
        book = Book(done.returncode, done.stdout + done.stderr)
        rows = self.rows(_CONTENTS, name)
        book.documents = [row["document"] for row in rows if row["document"]]
        book.chunks = [row["chunk"] for row in rows if row["chunk"]]
        return book

    def rows(self, statement: str, collection: str) -> list[dict[str, Any]]:
        """Return the rows of a Cypher statement."""
        done = self.run("cypher", "-c", collection, "--json", "-e", statement)
        rows: list[dict[str, Any]] = []
        if done.returncode == 0:
            rows = json.loads(done.stdout)["rows"]
        return rows

    def best(self, question: str, collection: str) -> str:
        """Return the text of the first chunk that hybrid search finds."""
        options = ("--mode", "hybrid", "--kind", "chunk", "--top-k", "1", "--json")
        done = self.run("query", question, "-c", collection, *options)
        hits = json.loads(done.stdout)["hits"] if done.returncode == 0 else []
        return str(hits[0]["text"]) if hits else ""

    @contextmanager
    def service(self, **environment: str) -> Iterator[Service]:
        """Start the service, and yield it with a key for a program."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        made = self.run("keys", "make", f"cases-{port}", "--role", "admin", "--json")
        key = str(json.loads(made.stdout)["key"]) if made.returncode == 0 else ""
        process = subprocess.Popen(
            [_FABULA, "serve", "--port", str(port)],
            env=self.environment | environment,
            cwd=self.work,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(port, _SERVICE_SECONDS)
            yield Service(f"http://127.0.0.1:{port}", key)
        finally:
            process.terminate()
            process.wait(_SECONDS)

    def ask_tool(self, call: Mapping[str, Any]) -> str:
        """Return what the tools for assistants answer to a call, over standard input."""
        start = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "cases", "version": "1"},
        }
        lines: list[dict[str, Any]] = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
        ]
        process = subprocess.Popen(
            [_FABULA, "mcp"],
            env=self.environment,
            cwd=self.work,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        stop = threading.Timer(_SECONDS, process.kill)
        stop.start()
        try:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines))
            process.stdin.flush()
            # The program ends with its input, so this stays open until the answer is there.
            return next((line for line in process.stdout if json.loads(line).get("id") == 2), "")
        finally:
            stop.cancel()
            process.kill()
            process.wait()

    def drop_indexes(self) -> None:
        """Drop the indexes of passages, as a load of data alone leaves them out."""
        from neo4j import GraphDatabase

        shown = self.run("db", "browse").stdout
        address = re.search(r"Connect to\s+(\S+)", shown)
        password = re.search(r"(?i)password\W+(\S+)", shown)
        if not address or not password:
            raise RuntimeError(f"`fabula db browse` does not say how to connect: {shown}")
        auth = ("neo4j", password[1].rstrip(".,"))
        with GraphDatabase.driver(address[1], auth=auth) as driver:
            own = "SHOW INDEXES YIELD name, owningConstraint WHERE owningConstraint IS NULL"
            for row in driver.execute_query(f"{own} RETURN name").records:
                if str(row["name"]).startswith("passage_"):
                    driver.execute_query(f"DROP INDEX {row['name']}")

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
            _wait_for(port, _START_SECONDS)
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


def _wait_for(port: int, seconds: float) -> None:
    """Wait until something listens at a port, for some seconds at most."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)


@dataclass(frozen=True)
class Service:
    """A running service, as a program sees it."""

    url: str
    key: str

    def get(self, path: str) -> str:
        """Return a page; '' if there is none."""
        return self._send(Request(f"{self.url}{path}"))[1]

    def post(self, path: str, body: str) -> str:
        """Return the answer to a body of JSON."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        return self._send(Request(f"{self.url}{path}", body.encode(), headers))[1]

    def preflight(self, path: str, headers: str) -> int:
        """Return the status with which a browser's question about headers is answered."""
        asked = {
            "Origin": "http://localhost:5173",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": headers,
        }
        return self._send(Request(f"{self.url}{path}", headers=asked, method="OPTIONS"))[0]

    def _send(self, request: Request) -> tuple[int, str]:
        try:
            with urlopen(request, timeout=_SECONDS) as response:
                return response.status, response.read().decode()
        except HTTPError as error:
            return error.code, ""
        except OSError:
            return 0, ""


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
        opened = user.run("read", "Repeated", "--at", path, "-c", name)
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


_SPEAKERS = "MATCH (q:Quotation {collection: $collection}) RETURN DISTINCT q.printed AS printed"


def _speakers(user: User, file: str) -> tuple[Book, set[str]]:
    name = user.collection()
    book = user.ingest(file, name, FABULA_GRAPHS="speech")
    return book, {row["printed"] for row in user.rows(_SPEAKERS, name)}


@case("69-fountain")
def fountain(user: User) -> Iterator[tuple[str, bool]]:
    """A screenplay has its scenes and speakers, without what was cut and without marks."""
    book, speakers = _speakers(user, "69-fountain/the-copper-kettle.fountain")
    facts = {"title": "The Copper Kettle", "author": "Ann Example"}
    yield f"{book.documents}", book.documents == [facts]
    sections = " ".join(book.sections)
    for scene in ("EXT. WEIR AT HOLLIN - NIGHT", "INT. MILL KITCHEN", "IN THE BELL TOWER"):
        yield f"section {scene}: {book.sections}", scene in sections
    yield "below Act One", all("Act One" in section for section in book.sections)
    yield "nothing cut", not re.search("BONEYARD|NOTEONE|SYNOPSISONE", book.text)
    yield "counted", "left out" in book.output
    yield "no marks", not re.search(r"^[@.!~>^#]|[\^*#<]", book.text.replace(".44", ""), re.M)
    yield f"speakers: {speakers}", {"MARTA", "THE MILLER", "McALPIN"} <= speakers


@case("71-subtitles")
def subtitles(user: User) -> Iterator[tuple[str, bool]]:
    """Subtitles are text, and their times are places."""
    for name in ("the-lantern.srt", "the-lantern-subtitles.txt"):
        book, speakers = _speakers(user, f"71-subtitles/{name}")
        yield (
            f"{name}: no times",
            "-->" not in book.text and not re.search(r"^\d+$", book.text, re.M),
        )
        yield f"{name}: no marks", "<i>" not in book.text
        joined = "The miller counted them again that same evening, and the river carried the sound"
        yield f"{name}: joined", joined in book.text
        yield f"{name}: {speakers}", "MARTA" in speakers
        found = user.run("query", "Who put out the lantern?", "-c", f"case-{user.count}")
        yield f"{name}: cited by time", bool(re.search(r"\b00:0\d:\d\d", found.stdout))


@case("73-transcript")
def transcript(user: User) -> Iterator[tuple[str, bool]]:
    """Who speaks is known, and the times are no text."""
    book, speakers = _speakers(user, "73-transcript/interview-otter.txt")
    yield f"{speakers}", speakers == {"Ann Example", "Bob Reader"}
    yield "no times", not re.search(r"\d:\d\d", book.text)
    yield "no maker", "Transcribed" not in book.text and "left out" in book.output


@case("74-fanfiction-page")
def fan_fiction(user: User) -> Iterator[tuple[str, bool]]:
    """The story is told from what its site and its author have put around it."""
    book = user.ingest("74-fanfiction-page/The_Copper_Kettle.html")
    facts = {"title": "The Copper Kettle", "author": "ann_example"}
    yield f"{book.documents}", book.documents == [facts]
    frame = "Posted originally|Rating|Archive Warning|Fandom|Stats|drop by|See the end|AUTHORSNOTE"
    yield "no frame", not re.search(frame, book.text)
    yield f"{book.sections}", len(book.sections) == 3


@case("76-licence-beside-a-book")
def licence(user: User) -> Iterator[tuple[str, bool]]:
    """A licence is skipped, and nothing has failed."""
    book = user.ingest("76-licence-beside-a-book/repo")
    yield book.output, book.code == 0 and "LICENSE.md" in book.output and len(book.documents) == 1


@case("77-one-book-thrice")
def one_book_thrice(user: User) -> Iterator[tuple[str, bool]]:
    """One book in three forms is taken once, or said to be one."""
    book = user.ingest("77-one-book-thrice/repo")
    yield book.output, len(book.documents) == 1 and "same book" in book.output


@case("79-numbers-in-the-margin")
def margin(user: User) -> Iterator[tuple[str, bool]]:
    """Numbers in the margin are those of lines."""
    name = user.collection()
    book = user.ingest("79-numbers-in-the-margin/the-lamp.txt", name)
    yield "no numbers", not re.search(r"\d", book.text)
    shown = user.run("read", "The Lamp", "--at", "ll. 33-35", "-c", name)
    yield shown.stdout[-300:], shown.returncode == 0 and "geese" in shown.stdout


@case("80-obsidian-manuscript")
def obsidian(user: User) -> Iterator[tuple[str, bool]]:
    """Scenes that an index lists are one document, without comments and marks."""
    book = user.ingest("80-obsidian-manuscript/Kettle")
    yield f"{book.documents}", [each["title"] for each in book.documents] == ["The Copper Kettle"]
    yield f"{book.sections}", book.sections == ["The Lantern", "The Bell", "The Kettle"]
    yield "no marks", not re.search(r"COMMENT|\[\[|\]\]|==|\^block|\[!note|bell\.png", book.text)
    yield "words", "by the weir and nobody in Hollin" in book.text and "forty-three" in book.text
    yield "exit code", book.code == 0


@case("81-author-with-dates")
def author_with_dates(user: User) -> Iterator[tuple[str, bool]]:
    """An author is a name, without dates."""
    documents = user.ingest("81-author-with-dates/eltec.xml").documents
    yield f"{documents}", [each["author"] for each in documents] == ["Ann Mary Example"]


@case("83-word-over-a-page")
def word_over_a_page(user: User) -> Iterator[tuple[str, bool]]:
    """A word over the end of a page is whole."""
    text = user.ingest("83-word-over-a-page/kessel.xml").text
    yield "hinaus", text.count("hinaus") >= 6 and not re.search(r"hin-\s*aus", text)
    yield "over lines", "warum" in text and "lachte" in text


@case("85-list-of-witnesses")
def witnesses(user: User) -> Iterator[tuple[str, bool]]:
    """A list of editions is no text of a play."""
    book = user.ingest("85-list-of-witnesses/play.xml")
    yield book.text[:60], book.text.lstrip().startswith("Act 1") and "1973" not in book.text
    yield "counted", "left out" in book.output


@case("86-gaps-of-letters")
def gaps(user: User) -> Iterator[tuple[str, bool]]:
    """What could not be read is marked."""
    text = user.ingest("86-gaps-of-letters/tcp.xml").text
    yield "letters", bool(re.search(r"th[•▢]t night", text) and re.search(r"[•▢]ollin", text))
    yield "words", bool(re.search(r"rang\s+(?:〈◊〉|[•▢…]+|\S*[◊▢]\S*)\s+times", text))
    yield "brevigraph", bool(re.search(r"best\s+\S+\s+man", text))
    yield "line ends", "lanterne" in text and "nobody" in text


@case("92-answer-that-cites-nothing")
def cites_nothing(user: User) -> Iterator[tuple[str, bool]]:
    """An answer without a citation is said to be one."""
    name, folder = user.collection(), "92-answer-that-cites-nothing"
    user.ingest(f"{folder}/story.txt", name)
    with user.endpoint("cite-none", FABULA_EMBEDDING_MODEL="wordllama-256") as models:
        plain = user.run("query", "Who kept a lantern?", "-c", name, **models)
        as_json = user.run("query", "Who kept a lantern?", "-c", name, "--json", **models)
    said = "(?i)cites? no|no passage|rests on no|without (?:a )?citation"
    yield (
        plain.stdout[-300:] + plain.stderr[-200:],
        bool(re.search(said, plain.stdout + plain.stderr)),
    )
    yield "--json", bool(re.search(said + '|cited": false|"uncited', as_json.stdout))


@case("99-index-dropped")
def index_dropped(user: User) -> Iterator[tuple[str, bool]]:
    """A missing index is made again, or said to be made by `check`."""
    name = user.collection()
    user.ingest("92-answer-that-cites-nothing/story.txt", name)
    user.drop_indexes()
    done = user.run("query", "Who kept a lantern?", "-c", name)
    output = done.stdout + done.stderr
    yield output[-300:], done.returncode == 0 or "fabula check" in output


@case("103-title-of-a-conversation")
def conversation_title(user: User) -> Iterator[tuple[str, bool]]:
    """A request for a title is answered without a search and without sources."""
    user.ingest("92-answer-that-cites-nothing/story.txt", "novels")
    body = (user.folder / "103-title-of-a-conversation/request.json").read_text()
    with user.endpoint("plain") as models, user.service(**models) as service:
        answer = service.post("/v1/chat/completions", body)
    # What the endpoint says has [1], whatever it is asked for: of passages it would be a source.
    yield answer[:300], '"annotations":[]' in answer and "Sources" not in answer


@case("104-browser-clients")
def browser_clients(user: User) -> Iterator[tuple[str, bool]]:
    """The headers of browsers' clients are allowed."""
    stainless = "x-stainless-lang,x-stainless-os,x-stainless-retry-count,x-stainless-timeout"
    asked = {
        "/v1/chat/completions": f"authorization,content-type,openai-beta,x-title,{stainless}",
        "/mcp": "authorization,content-type,mcp-protocol-version,mcp-session-id",
    }
    for value in ("http://localhost:5173", '["http://localhost:5173"]'):
        with user.service(FABULA_SERVE__ORIGINS=value) as service:
            for path, headers in asked.items():
                yield f"{path} {value}", service.preflight(path, headers) == 200


@case("105-below-a-path")
def below_a_path(user: User) -> Iterator[tuple[str, bool]]:
    """The service works below a path, or refuses an address with one."""
    with user.service(FABULA_SERVE__URL="https://books.example.org/fabula") as service:
        page = service.get("/fabula/signin") or service.get("/signin")
    links = re.findall(r'(?:href|src|action)="(/[^"]*)"', page)
    yield f"{links[:5]}", bool(links) and all(link.startswith("/fabula/") for link in links)


@case("106-nothing-as-an-argument")
def null_arguments(user: User) -> Iterator[tuple[str, bool]]:
    """Null is an option that is not given."""
    user.ingest("92-answer-that-cites-nothing/story.txt", "novels")
    options = {"document": None, "until": None, "aspects": None, "mode": None}
    arguments = {"collection": "novels", "question": "Who kept a lantern?", **options}
    call = {"name": "search", "arguments": arguments}
    answer = user.ask_tool(call)
    yield answer[:300], '"isError":true' not in answer.replace(" ", "") and "lantern" in answer


@case("109-positions-of-javascript")
def utf16_positions(user: User) -> Iterator[tuple[str, bool]]:
    """Positions that count UTF-16 units are recognised by the quotations beside them."""
    name, folder = user.collection(), "109-positions-of-javascript"
    user.ingest(f"{folder}/the-kettle.txt", name)
    file, book = user.folder / folder / "utf16.jsonld", ("--document", "The Kettle")
    user.run("annotations", "import", file, *book, "-c", name)
    statement = "MATCH (a:Annotation {collection: $collection}) RETURN a.quote AS text"
    texts = sorted(str(row["text"]) for row in user.rows(statement, name))
    yield f"{texts}", texts == sorted(["lantern", "lantern", "geese", "geese", "bell of Hollin"])


@case("111-formats-of-annotators")
def annotators(user: User) -> Iterator[tuple[str, bool]]:
    """What brat and WebAnno write is read, or it is said what to choose there."""
    name = user.collection()
    user.ingest("109-positions-of-javascript/the-kettle.txt", name)
    for file in ("kettle.ann", "kettle.tsv"):
        path = user.folder / "111-formats-of-annotators" / file
        done = user.run("annotations", "import", path, "--document", "The Kettle", "-c", name)
        yield f"{file}: {(done.stdout + done.stderr)[-200:]}", done.returncode == 0


@case("114-windows-console")
def windows_console(user: User) -> Iterator[tuple[str, bool]]:
    """No output ends in a traceback, whatever the console's encoding."""
    name = user.collection()
    user.ingest("109-positions-of-javascript/the-kettle.txt", name)
    for encoding in ("cp1252", "cp437", "gbk"):
        environment = {"PYTHONUTF8": "0", "PYTHONIOENCODING": encoding}
        done = user.run("read", "The Kettle", "--at", "CHAPTER I", "-c", name, **environment)
        failed = done.returncode != 0 or "Traceback" in done.stderr
        yield f"{encoding}: {done.stderr[-200:]}", not failed


@case("125-file-that-is-gone")
def file_that_is_gone(user: User) -> Iterator[tuple[str, bool]]:
    """A book whose file has gone is named, with what to do."""
    name, folder = user.collection(), user.work / "gone"
    folder.mkdir()
    shutil.copy(user.folder / "92-answer-that-cites-nothing/story.txt", folder)
    shutil.copy(user.folder / "79-numbers-in-the-margin/the-lamp.txt", folder)
    user.ingest(folder, name)
    (folder / "the-lamp.txt").unlink()
    book = user.ingest(folder, name)
    yield book.output, "the-lamp.txt" in book.output and "fabula remove" in book.output


def main(folder: Path, numbers: list[str]) -> int:
    """Try the cases, print what each did, and return how many are not right."""
    chosen = {
        name: check for name, check in CASES.items() if not numbers or name.split("-")[0] in numbers
    }
    work = Path(tempfile.mkdtemp(prefix="fabula-cases-"))
    user = User(folder.resolve(), work)
    wrong = 0
    try:
        for name, check in chosen.items():
            try:
                results = list(check(user))
            except (
                LookupError,
                OSError,
                RuntimeError,
                ValueError,
                subprocess.SubprocessError,
            ) as e:
                results = [(f"{type(e).__name__}: {e}", False)]
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
    arguments = sys.argv[1:]
    named = arguments and not arguments[0].isdigit()
    sys.exit(main(Path(arguments.pop(0)) if named else _CASES, arguments))
