"""A run's questions put to each peer in turn; one that fails is skipped, and the next begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabula.config.model_factory import ModelFactory
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.errors import BadReply, FabulaError, SettingsError
from fabula_bench.log import PEER, Log, lock_folder
from fabula_bench.model import BenchQuestion, DataSet, Result
from fabula_bench.plan import TestedSystem, limit_questions, plan_systems, read_data
from fabula_bench.report.about import Run
from fabula_bench.report.read import read_run
from fabula_bench.scoring import choose_metrics
from fabula_bench.speed.peers.asking import Asked, Asking, indexing
from fabula_bench.speed.peers.catalogue import Peer
from fabula_bench.speed.peers.environment import installed
from fabula_bench.speed.peers.keeping import Outcome, keep
from fabula_bench.speed.peers.proxy import Proxy
from fabula_bench.speed.peers.ranks import write_ranks
from fabula_bench.speed.peers.speaking import PeerFailed
from fabula_bench.suite import Suite

MODELS = ("model", "embedding_model")
INDEXES = "peers"
"""The folder of the peers' indexes, within the run's."""
RANKS = "tiktoken"
"""The folder of the tokenizer's table, within the peers' cache."""

Say = Callable[[str], None]
Score = Callable[[BenchQuestion, Result], Result]


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done: a run's folder, its questions, and the peers to put them to.

    `asking` is a system of the suite with the models to use, which are an endpoint's.
    """

    suite: Suite
    folder: Path
    data: DataSet
    asking: TestedSystem
    peers: Sequence[Peer]
    cache: Path


def prepared(
    suite: Suite, folder: Path, data: Path | None, limit: int | None, peers: Sequence[Peer]
) -> Job:
    """The job, its questions those that the run in `folder` is about, at most `limit` of them.

    Raises FabulaError where there is no run, or one of another suite, other data or other models;
    SettingsError where no endpoint's models are named.
    """
    run = read_run(folder).run
    found = read_data(suite, data)
    if (run.suite, dict(run.data.sha256)) != (suite.name, dict(found.sha256)):
        raise FabulaError(f"{folder} holds a run of {run.suite}, or of other data: name its own.")
    ids = {question.id for question in run.questions}
    found = replace(
        found, questions=tuple(question for question in found.questions if question.id in ids)
    )
    system = plan_systems(suite, found, _models())[0]
    if system.settings.offline or system.settings.embedding_model == STATIC:
        raise SettingsError(
            "Peers need a chat and an embedding model of an endpoint: set FABULA_MODEL, "
            "FABULA_EMBEDDING_MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY."
        )
    _refuse_others(run, system.settings)
    cache = Settings.read().cache_folder / INDEXES
    return Job(suite, folder, limit_questions(found, None, limit, suite.seed), system, peers, cache)


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


def _models() -> dict[str, Any]:
    """The models that the environment names; a suite's own are often none of an endpoint's."""
    named = Settings.read()
    return {name: getattr(named, name) for name in MODELS if name in named.model_fields_set}


def run(job: Job, say: Say) -> list[Outcome]:
    """Puts the questions to the peers; results, peers.json and run.json are kept as it goes.

    Raises FabulaError where another run is writing into the folder.
    """
    with lock_folder(job.folder):
        return _run(job, say)


def _run(job: Job, say: Say) -> list[Outcome]:
    settings = job.asking.settings
    log, kit = Log(job.folder), ModelFactory(settings)
    score = choose_metrics(job.suite, job.data, job.asking).by(kit, job.asking)
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    outcomes: list[Outcome] = []
    try:
        with Proxy(settings.base_url, key, settings.concurrency, settings.timeout) as proxy:
            environment = _environment(job, proxy)
            for peer in job.peers:
                say(f"{peer.title} {peer.version}")
                outcome = _one(job, peer, proxy, environment, log, score, say)
                outcomes.append(outcome)
                keep(job.folder, outcomes, log)
    finally:
        kit.close()
    return outcomes


def _environment(job: Job, proxy: Proxy) -> dict[str, str]:
    """What all peers are told: the models, and where tiktoken finds what it would download."""
    settings = job.asking.settings
    ranks = job.cache.resolve() / RANKS
    write_ranks(ranks)
    return {
        "PEER_MODEL": settings.model,
        "PEER_EMBEDDING_MODEL": settings.embedding_model,
        "PEER_DIMENSIONS": str(proxy.dimensions(settings.embedding_model)),
        "TIKTOKEN_CACHE_DIR": str(ranks),
    }


def _one(
    job: Job,
    peer: Peer,
    proxy: Proxy,
    environment: Mapping[str, str],
    log: Log,
    score: Score,
    say: Say,
) -> Outcome:
    settings = job.asking.settings
    models = {name: getattr(settings, name) for name in MODELS}
    outcome = Outcome(peer, models, len(job.data.questions))
    by_id = {question.id: question for question in job.data.questions}
    folder = job.folder.resolve() / INDEXES / peer.home
    try:
        python = installed(peer, job.cache)
        asking = Asking(peer, python, folder, proxy, environment, job.asking.ask)
        for part in _asked(job, _there(peer, log)):
            for result in asking.results(part):
                if isinstance(result, PeerFailed):
                    outcome.failed.append(str(result))
                    say(f"  failed     {result}")
                    continue
                try:
                    log.append(score(by_id[result.question], result))
                    say(f"  answered   {result.question}")
                except BadReply as error:
                    outcome.failed.append(f"question {result.question} was not scored: {error}")
    except FabulaError as error:
        outcome.skipped = str(error)
        say(f"  skipped    {error}")
    outcome.indexing = indexing(folder)
    outcome.answered = len(_there(peer, log) & by_id.keys())
    return outcome


def _there(peer: Peer, log: Log) -> set[str]:
    """The questions with a result of this peer."""
    return {result.question for result in log.of(f"{PEER}{peer.name}")}


def _asked(job: Job, there: set[str]) -> list[Asked]:
    """The questions that are not answered yet, by the index that they are asked of."""
    missing = [question for question in job.data.questions if question.id not in there]
    if job.suite.data.scope == "collection":
        return [Asked([text.text for text in job.data.texts], missing)] if missing else []
    by_text = [
        Asked([text.text], [item for item in missing if item.text == text.id])
        for text in job.data.texts
    ]
    return [item for item in by_text if item.questions]
