"""The jobs of a graph without a service: what its threads do by themselves is called by a test."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabula.app import App
from fabula.config.serving import TABLE, Serving
from fabula.jobs.callers import Caller
from fabula.jobs.ledger import Ledger
from fabula.jobs.queue import Jobs
from fabula.jobs.recipes import Recipes
from fabula.jobs.runner import JobServices
from fabula.jobs.uploads import Uploads
from fabula.store import schema


@dataclass
class Changes:
    """What was changed, as an audit is told of it."""

    changes: list[str] = field(default_factory=list)

    def record(self, caller: Caller, what: str, target: str, /, **details: object) -> None:
        self.changes.append(f"{what} {target}")


class Server:
    """The jobs of an App, and what runs them."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.serving: Serving = app.settings.table(TABLE)
        self.audit = Changes()
        self.forgotten: list[str] = []
        self.uploads = Uploads(app, self.serving.uploads)
        self.jobs = Jobs(app, Recipes(app, self.uploads), self.audit)
        settings = app.settings
        self.job_services = JobServices(
            app,
            self.serving,
            self.jobs,
            self.uploads,
            Ledger(app.connect(), lambda _: None, settings, settings.cache_folder),
            self.forgotten.append,
            outage=lambda: None,
            is_asked=lambda: False,
        )

    def make_schema(self) -> None:
        self.app.connect().make_schema()
        schema.make_room(self.app.connect(), "jobs")
