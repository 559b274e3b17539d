"""Run the measurement on gold data: `fabula bench run gold`.

    LitBank, PolDraCor -> documents -> measured graphs, in memory -> scores -> gold.json, report.md

Without a chat model the rules are measured; with one, the rules and the model side by side. Nothing
is stored in a database. Replies of a model are kept by the response cache, so a run that was
stopped asks only for what is missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from fabula.config.model_factory import ModelFactory
from fabula.config.settings import OFFLINE, STATIC, Settings, setting_fields
from fabula.errors import BadReply, DataError, LoadError, RuleError
from fabula.graph import TEXT
from fabula.graph.findings import Findings
from fabula.graph.gaps import gaps_of
from fabula.graph.installed import graphs
from fabula.graph.method import BuildText, Graph
from fabula.graph.recipes import with_bases
from fabula.graphs.entities.findings import join_names
from fabula.load import load, read_text
from fabula.models.counted import Meter
from fabula.models.usage import Usage, sum_usage
from fabula.text.document import Document
from fabula_bench.building import Parts, build_parts, text_chunks
from fabula_bench.gold import novels
from fabula_bench.gold.litbank import LitBankText, read_litbank
from fabula_bench.gold.plays import score_play
from fabula_bench.gold.poldracor import Play, read_poldracor
from fabula_bench.gold.report import GoldSystem, write_report
from fabula_bench.gold.resolvers import score_resolvers
from fabula_bench.gold.scores import TextScores, summarise
from fabula_bench.plan import version_info
from fabula_bench.run import ProgressView
from fabula_bench.suite import METHOD

NOVELS, PLAYS = "litbank", "poldracor"
"""The folders of the data, in the folder that is named."""
BOOKS = "books"
"""A folder of whole books beside them: NUMBER-0.txt, as Project Gutenberg offers them. Rules read
the texts of other folders, too."""
MAX_FILE_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class GoldRun:
    """What to measure, as in BenchRun; `texts` is how many novels, and how many plays, at most."""

    data: Path
    folder: Path
    given: Mapping[str, Any]
    texts: int | None = None
    command: str = ""


@dataclass(slots=True)
class GoldOutcome:
    """What was measured: each system's figures, texts that failed, and the report's file.

    `books` has the gaps that rules left in each whole book, with their places, and those of
    passages and plays that have any.
    """

    systems: list[GoldSystem] = field(default_factory=list)
    books: dict[str, list[str]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    report: Path = Path()


def run_gold(run: GoldRun, watching: ProgressView) -> GoldOutcome:
    """Measure the rules and, where a chat model is configured, the model; write a report.

    Raises:
        DataError: There are no data in the folder, or they are not as they should be.
        FabulaError: A model can't be asked, or the budget is spent.
    """
    texts, plays = read_gold(run.data, run.texts)
    settings = gold_settings(run.given)
    outcome = GoldOutcome()
    offline = settings.model_copy(update={"model": OFFLINE, "embedding_model": STATIC})
    systems = {"offline": offline} | ({} if settings.offline else {settings.model: settings})
    for name, of_system in systems.items():
        progress = watching.begin(name)
        progress.expect("texts", len(texts) + len(plays))
        models = ModelFactory(of_system)
        try:
            scores, pairs, usage = measure(
                texts, plays, run.data, models, partial(progress.done, "texts"), outcome
            )
            if of_system is offline:
                outcome.books |= find_rule_gaps(run.data, models)
        finally:
            models.close()
        outcome.systems.append(
            GoldSystem(name, of_system.values(), summarise(scores), scores, pairs, usage)
        )
    run.folder.mkdir(parents=True, exist_ok=True)
    _write_results(run, outcome)
    outcome.report = write_report(
        run.folder, outcome.systems, run.command, outcome.failed, outcome.books
    )
    return outcome


def gold_settings(given: Mapping[str, Any]) -> Settings:
    """Return the default method with the models of the environment and of flags.

    As in suites, nothing in the environment changes how a graph is built.
    """
    method = {name: setting_fields()[name].get_default() for name in METHOD}
    return Settings.read(**method | dict(given))


def read_gold(
    folder: Path, limit: int | None = None
) -> tuple[Sequence[LitBankText], Sequence[Play]]:
    """Read the novels' passages and the plays of a folder; one of both may be missing.

    Raises:
        DataError: Both are missing, or a file is not as it should be.
    """
    texts = read_litbank(folder / NOVELS) if (folder / NOVELS).is_dir() else ()
    plays = read_poldracor(folder / PLAYS) if (folder / PLAYS).is_dir() else ()
    if not texts and not plays:
        raise DataError(
            f"{folder} has neither {NOVELS}/ nor {PLAYS}/: name the folder that has them with "
            "--data. docs/experiments.md says where the data are from."
        )
    return texts[:limit], plays[:limit]


def measure(
    texts: Sequence[LitBankText],
    plays: Sequence[Play],
    data: Path,
    models: ModelFactory,
    report: Callable[[Usage], None],
    outcome: GoldOutcome,
) -> tuple[list[TextScores], list[novels.AliasPair], Mapping[str, Usage]]:
    """Return the scores of all texts, the pairs of given names, and what models were asked.

    Whole books are looked for in the folder `data`. `report` is called for each text with what
    models were asked so far; the outcome gets a message for each text that can't be measured, and
    the gaps.
    """
    all_scores: list[TextScores] = []
    all_pairs: list[novels.AliasPair] = []
    usages: list[Mapping[str, Usage]] = []
    annotated: list[LitBankText | Play] = [*texts, *plays]
    for gold in annotated:
        scores = TextScores(gold.name)
        try:
            if isinstance(gold, LitBankText):
                pairs = novels.pair_given_names(gold, join_names)
                all_pairs += pairs
                persons = [pair for pair in pairs if pair.is_person]
                novels.score_pairs(scores, novels.GIVEN, pairs)
                novels.score_pairs(scores, novels.GIVEN_PERSONS, persons)
                document = _document_of(gold, data)
                found, usage, gaps = _find_in(document, models)
                novels.score_findings(scores, gold, found, document.text)
            else:
                document = load(gold.file, "", MAX_FILE_BYTES)
                found, usage, gaps = _find_in(document, models)
                score_play(scores, gold, found, document.text)
        except (LoadError, BadReply, DataError, RuleError) as error:
            outcome.failed.append(f"{gold.name}: {error}")
            continue
        if gaps and models.offline:
            outcome.books[gold.name] = gaps
        usages.append(usage)
        all_scores.append(scores)
        report(sum(sum_usage(usages).values(), Usage()))
    by_name = {scores.text: scores for scores in all_scores}
    score_resolvers([text for text in texts if text.name in by_name], by_name)
    return all_scores, all_pairs, sum_usage(usages)


def find_rule_gaps(folder: Path, models: ModelFactory) -> dict[str, list[str]]:
    """Build all graphs that need no model of all other texts in a folder; return their gaps."""
    files = [file for file in folder.rglob("*.txt") if NOVELS not in file.relative_to(folder).parts]
    return {file.stem: _find_gaps(file, models) for file in sorted(files)}


def _find_gaps(file: Path, models: ModelFactory) -> list[str]:
    try:
        parts = build_parts(load(file, "", MAX_FILE_BYTES), rule_graphs(), models, Meter())
    except (LoadError, RuleError) as error:
        return [str(error)]
    return describe_gaps(parts)


def describe_gaps(parts: Parts) -> list[str]:
    """Return the gaps of a document's graphs, with their places."""
    found = [(name, gap) for name, part in parts.items() for gap in gaps_of(part)]
    return [f"{name}, from character {gap.properties['start']:,}: {gap.why}" for name, gap in found]


def rule_graphs() -> list[Graph[Any]]:
    """Return the graphs of documents that need no chat model."""
    names = [name for name, graph in graphs().items() if graph.build and not graph.needs_model]
    return with_bases(graphs(), [name for name in names if not graphs()[name].imports])


def measured_graphs() -> list[Graph[Any]]:
    """Return the graphs that declare how they are measured, and all that they rest on."""
    installed = graphs()
    return with_bases(installed, [name for name, graph in installed.items() if graph.find])


def _find_in(
    document: Document, models: ModelFactory
) -> tuple[Findings, Mapping[str, Usage], list[str]]:
    """Build the graphs of a document; return what they found, what that cost, and their gaps."""
    used = rule_graphs() if models.offline else measured_graphs()
    meter = Meter()
    parts = build_parts(document, used, models, meter)
    chunks = text_chunks(parts[TEXT])
    found = []
    for graph in used:
        below = {name: parts[name] for name in (*graph.rests_on, *graph.uses) if name in parts}
        if graph.find:
            found.append(graph.find(BuildText(document, chunks, below), parts[graph.name]))
    return _merge(found), meter.usage(), describe_gaps(parts)


def _merge(found: Sequence[Findings]) -> Findings:
    """Return the findings of several graphs as one."""
    return Findings(
        tuple(entity for findings in found for entity in findings.entities),
        tuple(pair for findings in found for pair in findings.scenes),
        tuple(quotation for findings in found for quotation in findings.quotations),
        tuple(event for findings in found for event in findings.events),
        any(findings.finds_quotations for findings in found),
        any(findings.finds_events for findings in found),
    )


def _document_of(gold: LitBankText, data: Path) -> Document:
    """The whole book where the folder of books has it, or else the passage."""
    number = gold.name.partition("_")[0]
    book = data / BOOKS / f"{number}-0.txt"
    if number.isdigit() and book.is_file():
        return load(book, "", MAX_FILE_BYTES)
    title = re.sub(r"_brat$", "", gold.name.partition("_")[2]).replace("_", " ")
    return read_text(gold.text, source=gold.name, collection="", title=title, language="en")


def _write_results(run: GoldRun, outcome: GoldOutcome) -> None:
    systems = [
        {
            "system": system.name,
            "settings": system.settings,
            "figures": {name: asdict(figure) for name, figure in system.figures.items()},
            "usage": {step: asdict(usage) for step, usage in system.usage.items()},
            "pairs": [asdict(pair) for pair in system.pairs if pair.verdict != "right"],
        }
        for system in outcome.systems
    ]
    result = {
        "command": run.command,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            **version_info(),
            "graphs": {graph.name: graph.version for graph in measured_graphs()},
        },
        "systems": systems,
        "books": outcome.books,
        "failed": outcome.failed,
    }
    text = json.dumps(result, ensure_ascii=False, indent=1)
    (run.folder / "gold.json").write_text(f"{text}\n", encoding="utf-8")
