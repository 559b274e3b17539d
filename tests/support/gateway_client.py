"""A program behind a gateway, as a process: asks prompts by their numbers from several threads."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from fabula.config.model_factory import ModelFactory
from fabula.config.settings import Settings
from fabula.errors import BudgetSpent
from fabula.models import Prompt
from fabula.models.counted import Meter


def prompt(number: int) -> Prompt:
    """The prompt of a number; its reply is the number's sentence."""
    passage = f"Chapter {number} begins. Nobody knew what would follow."
    return Prompt("You summarise.", f"<passages>\n{passage}\n</passages>", 100, 0.5)


def main(first: int, last: int, threads: int) -> None:
    """Ask all prompts of a range, and print what each was replied to and what it has cost."""
    meter = Meter()
    models = ModelFactory(Settings.read(concurrency=threads))
    chat = models.chat(meter, "test")

    def ask(number: int) -> tuple[int, str]:
        try:
            return number, chat.complete(prompt(number)).text
        except BudgetSpent as error:
            return number, f"spent: {error}"

    with ThreadPoolExecutor(threads) as pool:
        replies = dict(pool.map(ask, range(first, last)))
    models.close()
    total = meter.total()
    print(json.dumps({"replies": replies, "calls": total.calls, "saved": total.saved}))  # noqa: T201


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
