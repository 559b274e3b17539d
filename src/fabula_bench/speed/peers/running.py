"""A run's questions put to each peer in turn; one that fails is skipped, and the next begins.

What the peers did is kept beside what the run's own systems did: results in `results.jsonl`, and
the peers, with what their indexes took, among the systems of `run.json`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter

from fabula.config.model_factory import ModelFactory
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.errors import BadReply, FabulaError, SettingsError
from fabula.models.usage import Usage, sum_usage
from fabula.server.private import PrivateServer
from fabula.text import tokens
from fabula_bench.log import PEER, RUN, Log, lock_folder, read_json, replace_file
from fabula_bench.model import BenchQuestion, DataSet, Result, Retrieved
from fabula_bench.plan import TestedSystem, limit_questions, plan_systems, read_data
from fabula_bench.report.about import Run, Stage, System
from fabula_bench.report.read import read_run
from fabula_bench.scoring import choose_metrics
from fabula_bench.speed.peers.adapter import Adapter, PeerFailed
from fabula_bench.speed.peers.catalogue import Peer
from fabula_bench.speed.peers.proxy import Proxy
from fabula_bench.speed.server import HEAP, PAGE_CACHE, address_variables
from fabula_bench.suite import Ask, Suite

MODELS = ("model", "embedding_model")
PEERS = "peers"
"""The folder of the peers' indexes, within the run's."""
INDEXED = "indexed.json"
"""What an index cost; it is there when the index is whole."""
RANKS_FOLDER, RANKS_FILE = "tiktoken", "fb374d419588a4632f3f557e76b4b70aebbca790"
"""Where tiktoken looks for the table o200k_base: the SHA-1 of where it is published."""

Say = Callable[[str], None]
Texts = tuple[str, ...]


@dataclass(slots=True)
class Outcome:
    """How it went with one peer: of the questions asked, `answered` have a result now.

    `skipped` says why it stopped, before or amid its questions.
    """

    name: str
    asked: int
    answered: int = 0
    indexing: Stage = field(default_factory=lambda: Stage(0.0))
    failed: list[str] = field(default_factory=list)
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """A peer in its environment; `folder` is for its indexes, one folder each.

    `environment` is what its processes see beside the endpoint: the models' names.
    """

    peer: Peer
    python: Path
    folder: Path
    proxy: Proxy
    environment: Mapping[str, str]
    ask: Ask

    def index_folder(self, texts: Texts) -> Path:
        """Where the index of these texts is: it depends on them, the models and the version."""
        models = {name: content for name, content in self.environment.items() if "MODEL" in name}
        content = [self.peer.requirements, models, list(texts)]
        return self.folder / hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]

    def results(
        self, texts: Texts, questions: Sequence[BenchQuestion]
    ) -> Iterator[Result | PeerFailed]:
        """A result, or why there is none, for each question about an index of these texts.

        Raises PeerFailed where the texts can't be indexed, or the peer ends.
        """
        indexed = self.index_folder(texts) / INDEXED
        with self._adapter(texts) as adapter:
            # A peer's Neo4j holds only the last index.
            if self.peer.neo4j or not indexed.is_file():
                self.proxy.take()
                began = time.monotonic()
                adapter.index(texts)
                cost = Stage(round(time.monotonic() - began, 3), self.proxy.take())
                replace_file(indexed, json.dumps(asdict(cost)) + "\n")
            for question in questions:
                self.proxy.take()
                began = time.monotonic()
                try:
                    answer, context = adapter.ask(_word(question, self.ask))
                except PeerFailed as failed:
                    if failed.gone:
                        raise
                    yield PeerFailed(f"question {question.id}: {failed}")
                    continue
                cost = Stage(time.monotonic() - began, self.proxy.take())
                yield _result(self.peer, question, answer, context, self.ask, cost)

    @contextmanager
    def _adapter(self, texts: Texts) -> Iterator[Adapter]:
        environment = {
            **self.environment,
            "OPENAI_BASE_URL": self.proxy.url,
            "OPENAI_API_KEY": "counted",
            "PEER_SEARCH": self.peer.search,
        }
        neo4j = self.folder / "neo4j"
        server = PrivateServer(neo4j, HEAP, PAGE_CACHE) if self.peer.neo4j else None
        try:
            if server:
                environment |= address_variables(server.start())
            folder = self.index_folder(texts)
            busy = lambda: self.proxy.last  # noqa: E731
            with Adapter(self.python, self.peer.adapter, folder, environment, busy) as adapter:
                yield adapter
        finally:
            if server:
                server.stop()


def read_indexing(folder: Path) -> Stage:
    """What the indexes in a peer's folder cost together, whenever they were made."""
    files = sorted(folder.glob(f"*/{INDEXED}"))
    stages = [TypeAdapter(Stage).validate_json(file.read_bytes()) for file in files]
    return Stage(sum(each.seconds for each in stages), sum_usage(each.spent for each in stages))


def _word(question: BenchQuestion, ask: Ask) -> str:
    """The question as a peer is asked it; one with options lists them."""
    if ask != "choose":
        return question.question
    listed = "\n".join(f"{n}. {option}" for n, option in enumerate(question.options, 1))
    return (
        f"{question.question}\n\nWhich of these is right?\n{listed}\n"
        "Begin your answer with its number."
    )


def find_choice(answer: str, options: int) -> int | None:
    """Return the index of the option that an answer names, None where it names none."""
    found = re.search(r"\d+", answer)
    number = int(found[0]) if found else 0
    return number - 1 if 1 <= number <= options else None


def _result(
    peer: Peer, question: BenchQuestion, answer: str, context: list[str], ask: Ask, cost: Stage
) -> Result:
    """What a peer said, as a run keeps it. Of its passages only the words are known."""
    total = sum(cost.spent.values(), Usage())
    passages = [text for text in context if text.strip()]
    return Result(
        system=f"{PEER}{peer.name}",
        question=question.id,
        answer=answer,
        choice=find_choice(answer, len(question.options)) if ask == "choose" else None,
        context=tuple(
            Retrieved(str(number), "peer", "", 0, "", 0, 0, 0.0, text)
            for number, text in enumerate(passages, 1)
        ),
        cited=(),
        context_tokens=sum(tokens.count_all(passages)),
        calls=total.calls,
        prompt_tokens=total.prompt_tokens,
        completion_tokens=total.completion_tokens,
        seconds=cost.seconds,
        asked=question.question,
        spent=cost.spent,
    )


def run(
    suite: Suite,
    folder: Path,
    data: Path | None,
    limit: int | None,
    peers: Sequence[Peer],
    say: Say,
) -> list[Outcome]:
    """Put the questions of the run in `folder`, at most `limit` of them, to the peers.

    Raises FabulaError where there is no run, or one of another suite, other data or other models,
    or where another run is writing into the folder; SettingsError where no endpoint's models are
    named.
    """
    found, system = _prepare(suite, folder, data)
    found = limit_questions(found, None, limit, suite.seed)
    settings = system.settings
    cache = Settings.read().cache_folder.resolve() / PEERS
    write_ranks(cache / RANKS_FOLDER)
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    outcomes: list[Outcome] = []
    with (
        lock_folder(folder),
        closing(ModelFactory(settings)) as models,
        Proxy(settings.base_url, key, settings.concurrency, settings.timeout) as proxy,
    ):
        log = Log(folder)
        score = choose_metrics(suite, found, system).by(models, system)
        environment = {
            "PEER_MODEL": settings.model,
            "PEER_EMBEDDING_MODEL": settings.embedding_model,
            "PEER_DIMENSIONS": str(proxy.dimensions(settings.embedding_model)),
            "TIKTOKEN_CACHE_DIR": str(cache / RANKS_FOLDER),
        }
        for peer in peers:
            say(f"{peer.title} {peer.version}")
            outcome = Outcome(peer.name, len(found.questions))
            indexes = folder.resolve() / PEERS / peer.home
            try:
                asking = Asking(peer, peer.install(cache), indexes, proxy, environment, system.ask)
                _ask_all(asking, outcome, suite, found, log, score, say)
            except FabulaError as error:
                outcome.skipped = str(error)
                say(f"  skipped    {error}")
            outcome.indexing = read_indexing(indexes)
            answered = _answered(peer, log) & {question.id for question in found.questions}
            outcome.answered = len(answered)
            outcomes.append(outcome)
            _keep(folder, _describe(peer, outcome, settings, log))
    return outcomes


def _prepare(suite: Suite, folder: Path, data: Path | None) -> tuple[DataSet, TestedSystem]:
    """The data with the questions of the run in `folder`, and a system with the models to use."""
    recorded = read_run(folder).run
    found = read_data(suite, data)
    if (recorded.suite, dict(recorded.data.sha256)) != (suite.name, dict(found.sha256)):
        raise FabulaError(
            f"{folder} holds a run of {recorded.suite}, or of other data: name its own."
        )
    ids = {question.id for question in recorded.questions}
    found = replace(found, questions=tuple(each for each in found.questions if each.id in ids))
    named = Settings.read()
    # A suite's own models are often none of an endpoint's.
    models = {name: getattr(named, name) for name in MODELS if name in named.model_fields_set}
    system = plan_systems(suite, found, models)[0]
    if system.settings.offline or system.settings.embedding_model == STATIC:
        raise SettingsError(
            "Peers need a chat and an embedding model of an endpoint: set FABULA_MODEL, "
            "FABULA_EMBEDDING_MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY."
        )
    _refuse_others(recorded, system.settings)
    return found, system


def _refuse_others(run: Run, settings: Settings) -> None:
    """Raises FabulaError where the run's systems, or its peers, were asked of other models."""
    for system in run.systems:
        for name in MODELS:
            was, now = system.models.get(name), getattr(settings, name)
            if was not in (None, OFFLINE, STATIC, now):
                raise FabulaError(
                    f"{system.name} was run with {name} {was}, and peers would be with {now}: "
                    "what is compared must have the same models."
                )


def _ask_all(
    asking: Asking,
    outcome: Outcome,
    suite: Suite,
    data: DataSet,
    log: Log,
    score: Callable[[BenchQuestion, Result], Result],
    say: Say,
) -> None:
    """Ask the questions that are not answered yet, by the index that they are asked of."""
    answered = _answered(asking.peer, log)
    by_texts: dict[Texts, dict[str, BenchQuestion]] = {}
    by_id = {text.id: text.text for text in data.texts}
    for question in data.questions:
        if question.id not in answered:
            is_whole = suite.data.scope == "collection"
            texts = tuple(by_id.values()) if is_whole else (by_id[question.text],)
            by_texts.setdefault(texts, {})[question.id] = question
    for texts, questions in by_texts.items():
        for result in asking.results(texts, [*questions.values()]):
            try:
                if isinstance(result, PeerFailed):
                    raise result
                log.append(score(questions[result.question], result))
                say(f"  answered   {result.question}")
            except (PeerFailed, BadReply) as error:
                outcome.failed.append(str(error))
                say(f"  failed     {error}")


def _answered(peer: Peer, log: Log) -> set[str]:
    """The questions with a result of this peer."""
    return {result.question for result in log.of(f"{PEER}{peer.name}")}


def _keep(folder: Path, peer: System) -> None:
    """Put a peer among the systems of run.json, in the place of what it was before."""
    run = read_json(folder / RUN) or {}
    others = [system for system in run["systems"] if system["name"] != peer.name]
    text = json.dumps(run | {"systems": [*others, asdict(peer)]}, indent=1, ensure_ascii=False)
    replace_file(folder / RUN, f"{text}\n")


def _describe(peer: Peer, outcome: Outcome, settings: Settings, log: Log) -> System:
    """A peer as a report shows it; one with results was not skipped, whatever came after them."""
    results = log.of(f"{PEER}{peer.name}")
    seconds = round(sum(result.seconds for result in results), 3)
    asking = Stage(seconds, sum_usage(result.spent for result in results))
    package = f"{peer.package}=={peer.version}"
    return System(
        name=f"{PEER}{peer.name}",
        settings={"title": peer.title, "package": package, "licence": peer.licence},
        models={name: getattr(settings, name) for name in MODELS},
        stages={"ingest": outcome.indexing, "ask": asking} if results else {},
        skipped="" if results else outcome.skipped or "it answered no question",
    )


def write_ranks(folder: Path) -> None:
    """Put the table that most peers' tokenizer would download into a folder, as it is published."""
    words = zlib.decompress(tokens.RANKS.read_bytes()).split(tokens.SEPARATOR)
    lines = [base64.b64encode(word) + b" %d\n" % rank for rank, word in enumerate(words)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RANKS_FILE).write_bytes(b"".join(lines))
