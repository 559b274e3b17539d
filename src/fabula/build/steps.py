"""Where the steps of a run that need no database are done: in this process, or by workers."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from fabula.build.make import PartListener, make
from fabula.build.values import BuiltParts, DocumentPlan
from fabula.config.model_factory import ModelFactory
from fabula.load.source import DocumentSource
from fabula.models.counted import Meter
from fabula.models.parallel import TaskGroup, Workers
from fabula.models.progress import Progress
from fabula.text.document import Document


class StepRunner:
    """Reads files and makes parts for one run, in the thread that calls it; several threads do.

    `fabula.build.cluster.ClusterSteps` has workers do the same.
    """

    def __init__(self, models: ModelFactory) -> None:
        self._models = models

    @property
    def document_workers(self) -> Workers:
        """The threads that each see a document through its steps; all runs here share them."""
        return self._models.document_workers

    def admit(self, job: TaskGroup) -> AbstractContextManager[None]:
        """Wait until another document may begin. Raises the error of the job if it fails."""
        return nullcontext()

    def read(self, source: DocumentSource, job: TaskGroup) -> Document:
        """Return the document of a source.

        Raises:
            LoadError: It can't be read.
        """
        return source.read()

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
        return make(plan, self._models, progress, meter, job, listener)

    def close(self) -> None:
        """End what was started for this run."""
