"""Where the steps of a run that need no database are done: in this process, or by workers."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from fabula.build.make import PartListener, make
from fabula.build.values import BuiltParts, DocumentPlan
from fabula.config.model_factory import ModelFactory
from fabula.load.source import DocumentSource
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.progress import Progress
from fabula.text.document import Document


class StepRunner(Protocol):
    """Reads files and makes parts for one run; called from several threads."""

    @property
    def document_workers(self) -> Workers:
        """The threads of this process that each see a document through its steps."""
        ...

    def admit(self, job: TaskGroup) -> AbstractContextManager[None]:
        """Wait until another document may begin. Raises the error of the job if it fails."""
        ...

    def read(self, source: DocumentSource, job: TaskGroup) -> Document:
        """Return the document of a source.

        Raises:
            LoadError: It can't be read.
        """
        ...

    def make(
        self,
        plan: DocumentPlan,
        progress: Progress,
        meter: Meter,
        job: TaskGroup,
        listener: PartListener | None = None,
    ) -> BuiltParts:
        """Make the parts of a document, as `fabula.build.make.make` does, with its errors.

        The listener is given what is made here as soon as it is made.
        """
        ...

    def close(self) -> None:
        """End what was started for this run."""
        ...


class LocalSteps:
    """A `StepRunner` that does all in the thread that calls it."""

    def __init__(self, models: ModelFactory) -> None:
        self._models = models

    @property
    def document_workers(self) -> Workers:
        """The threads of the factory, which all runs of this process share."""
        return self._models.document_workers

    def admit(self, job: TaskGroup) -> AbstractContextManager[None]:
        """Let every document begin: the number of threads is the limit."""
        return nullcontext()

    def read(self, source: DocumentSource, job: TaskGroup) -> Document:
        """Read it here."""
        return source.read()

    def make(
        self,
        plan: DocumentPlan,
        progress: Progress,
        meter: Meter,
        job: TaskGroup,
        listener: PartListener | None = None,
    ) -> BuiltParts:
        """Make them here."""
        return make(plan, self._models, progress, meter, job, listener)

    def close(self) -> None:
        """Do nothing."""
