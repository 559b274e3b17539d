"""What is opened once for all questions and runs: threads, the endpoint, the cache, batches."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from fabula.config.settings import Settings
from fabula.models.offline import StaticEmbedder
from fabula.models.parallel import Workers

if TYPE_CHECKING:
    from fabula.models import Embedder
    from fabula.models.batch_store import BatchStore
    from fabula.models.cache import ResponseCache
    from fabula.models.endpoint.endpoint import Endpoint

OFFLINE_THREADS = 1
"""Extraction and static vectors compute and do not wait: more threads would only take turns."""
MAX_DOCUMENTS = 4
"""Documents that are built at once. While the last summaries of one document wait for each other,
the calls of the next ones fill the gaps."""


class OpenedModels:
    """Opens each thing when it is first used, and closes all. Safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        remote = settings.uses_endpoint
        self.build_workers = Workers(settings.concurrency if remote else OFFLINE_THREADS)
        # Questions have threads of their own: behind a build, they would wait for all its calls.
        self.question_workers = Workers(settings.concurrency if remote else OFFLINE_THREADS)
        self.document_workers = Workers(MAX_DOCUMENTS if remote else OFFLINE_THREADS)
        self.static = StaticEmbedder()
        self._embedders: dict[str, Embedder] = {}
        self.opened_endpoint: Endpoint | None = None
        """The endpoint, if it has been used."""
        self._cache: ResponseCache | None = None
        self._batches: BatchStore | None = None
        self._opening_files, self._opening_endpoint = threading.Lock(), threading.Lock()

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint, one for all threads: two would have two limiters."""
        from fabula.models.endpoint.endpoint import Endpoint
        from fabula.models.limiter import Limiter, RetryPolicy

        settings = self._settings
        with self._opening_endpoint:
            if self.opened_endpoint is None:
                self.opened_endpoint = Endpoint(
                    settings.base_url,
                    settings.endpoint_key(),
                    Limiter(settings.concurrency),
                    RetryPolicy(settings.timeout, settings.attempts),
                    self.cache,
                )
            return self.opened_endpoint

    @property
    def cache(self) -> ResponseCache | None:
        """The response cache; None if there is to be none."""
        if not self._settings.cache:
            return None
        with self._opening_files:
            if self._cache is None:
                # An offline question needs neither the cache nor SQLite.
                from fabula.models.cache import ResponseCache

                folder, most = self._settings.cache_folder, self._settings.cache_max_gb * 1e9
                self._cache = ResponseCache(folder, most)
            return self._cache

    @property
    def batches(self) -> BatchStore:
        """The file of batches."""
        from fabula.models.batch_store import BatchStore

        with self._opening_files:
            if self._batches is None:
                self._batches = BatchStore(self._settings.cache_folder)
                self._batches.sweep()
            return self._batches

    def local_embedder(self, name: str) -> Embedder:
        """Return an embedding model that is no endpoint's, by its name with the provider's."""
        from fabula.models.providers import open_embedder

        if name not in self._embedders:
            # `setdefault`: of two that threads opened at once, all use the first.
            self._embedders.setdefault(name, open_embedder(name, self._settings.models_folder))
        return self._embedders[name]

    def close(self) -> None:
        """End the threads, and all waiting for the endpoint."""
        self.build_workers.close()
        self.question_workers.close()
        self.document_workers.close()
        with self._opening_endpoint:
            if self.opened_endpoint is not None:
                self.opened_endpoint.close()
        if self._cache:
            self._cache.close()
        if self._batches:
            self._batches.close()
