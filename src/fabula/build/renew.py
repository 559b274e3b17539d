"""Renew what is damaged in a collection: indexes, vectors, gaps, and parts that are stale or wrong.

What is sound is neither read nor asked for again. Each piece is written as soon as it is there, so
that a run which was stopped goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from fabula.build.outcome import Outcome
from fabula.build.run import BuildRun
from fabula.errors import NotFound
from fabula.graph import TEXT, Record
from fabula.graph.entries import Entry
from fabula.graph.installed import graphs
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup
from fabula.models.usage import Usage
from fabula.store import reembedding, schema
from fabula.store.embedding_space import Space
from fabula.store.integrity import CheckFindings
from fabula.store.reembedding import Unembedded
from fabula.text.tokens import count

Damage = Literal["", "indexes", "vectors", "gaps", "stale", "content"]
"""A kind of damage; '' for every kind."""
NODES_PER_PAGE = 1024
"""Nodes whose texts are held at a time."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """What is damaged, and the run that renews it.

    Attributes:
        run: A run without graphs of its own; in a dry one nothing is written.
        space: The embedding space of the collection.
        findings: What a check found.
        entries: The documents.
        stale: The names of stale graphs by the ids of documents.
        own: The collection's own parts by the names of their graphs.
        stale_own: The names of those that are stale.
        only: The kind of damage to renew.
    """

    run: BuildRun
    space: Space
    findings: CheckFindings
    entries: Sequence[Entry]
    stale: Mapping[str, Collection[str]]
    own: Mapping[str, Record]
    stale_own: Collection[str]
    only: Damage = ""

    def renew(self) -> list[Outcome]:
        """Renew it, each kind before those that rest on it; return what became of each."""
        outcomes: list[Outcome] = []
        if self._wants("indexes") and self.findings.counts["indexes"]:
            outcomes.append(self._renew_indexes())
        if self._wants("vectors") and self.findings.counts["vectors"]:
            outcomes.append(self._renew_vectors())
        return outcomes + self._renew_parts()

    def _wants(self, kind: Damage) -> bool:
        return self.only in ("", kind)

    def _renew_indexes(self) -> Outcome:
        """Make indexes that are missing or have failed, and wait until all are populated."""
        run, began = self.run, time.monotonic()
        name = f"indexes of {run.collection}"
        notes = tuple(
            violation.what for violation in self.findings.violations if violation.kind == "indexes"
        )
        outcome = Outcome(name, "replaced", title=name, notes=notes)
        if not run.dry:
            run.listener.expect(1)
            run.listener.begin(name)
            schema.make(run.store)
            schema.wait(run.store, *schema.needed_indexes(self.space))
            outcome = replace(outcome, seconds=time.monotonic() - began)
            run.listener.end(outcome)
        return outcome

    def _renew_vectors(self) -> Outcome:
        """Embed the nodes again whose vector no index has."""
        run, meter, began = self.run, Meter(self.run.models.counter), time.monotonic()
        name = f"vectors of {run.collection}"
        outcome = Outcome(name, "replaced", title=name)
        if run.dry:
            found = [node for page in self._pages() for node in page]
            used = Usage()
            if run.models.settings.embeds_by_endpoint:
                calls = -(-len(found) // run.models.settings.embedding_batch)
                used = Usage(calls=calls, prompt_tokens=sum(count(node.text) for node in found))
            steps = {"embed": Usage.of_model(run.models.settings.embedding_model, used)}
            return replace(outcome, counts={"vector": len(found)}, steps=steps)
        run.listener.expect(1)
        progress = run.listener.begin(name)
        progress.expect("embed", self.findings.counts["vectors"])
        # A cache may have the vector that is no use.
        embedder = run.models.counted_embedder(meter, cached=False)
        renewed = 0
        with reembedding.lock_space(run.store, run.collection) as check:
            for page in self._pages():
                check()
                size = embedder.batch
                batches = [page[start : start + size] for start in range(0, len(page), size)]

                def embed(batch: Sequence[Unembedded]) -> int:
                    texts = [node.text.strip() for node in batch]
                    vectors = embedder.embed(texts, "passage").vectors
                    reembedding.save_usable(run.store, self.space, batch, vectors)
                    for _ in batch:
                        progress.done("embed", meter.total())
                    return len(batch)

                with TaskGroup(run.models.workers, stop=run.stop) as job:
                    renewed += sum(job.each(0, embed, batches))
        outcome = replace(
            outcome,
            counts={"vector": renewed},
            steps={"embed": meter.total()},
            seconds=time.monotonic() - began,
        )
        run.listener.end(outcome)
        return outcome

    def _pages(self) -> Iterator[list[Unembedded]]:
        after = ""
        while page := reembedding.find_unusable(self.run.store, self.space, after, NODES_PER_PAGE):
            yield page
            after = page[-1].id

    def _renew_parts(self) -> list[Outcome]:
        """Build parts again: those that are wrong as a whole, of others only their gaps."""
        installed = graphs()
        wrong: dict[str, set[str]] = {}
        for name, document in self.findings.wrong_parts if self._wants("content") else ():
            wrong.setdefault(document, set()).add(name)
        lacking = {entry.id: self._lacking(entry) for entry in self.entries}
        anew = replace(self.run, rebuild=True)
        outcomes = [
            *anew.build([(e, wrong[e.id]) for e in self.entries if e.id in wrong]),
            *self.run.build([(e, lacking[e.id]) for e in self.entries if lacking[e.id]]),
        ]
        for name, record in self.own.items():
            is_wrong = name in wrong.get("", ())
            is_stale = name in self.stale_own and self._wants("stale")
            if is_wrong or is_stale or (record.gaps and self._wants("gaps")):
                with suppress(NotFound):  # what it was made from is gone
                    run = anew if is_wrong else self.run
                    outcomes += run.build_collection(installed[name])
        return outcomes

    def _lacking(self, entry: Entry) -> list[str]:
        """Return the graphs of a document that have gaps or are stale, as far as that is wanted.

        A stale text can't be made without its file: what rests on it is as good as it can be.
        """
        stale = self.stale.get(entry.id, ()) if self._wants("stale") else ()
        stale = () if TEXT in stale else stale
        return [
            name
            for name in graphs()
            if name in entry.graphs
            and ((entry.graphs[name].gaps and self._wants("gaps")) or name in stale)
        ]
