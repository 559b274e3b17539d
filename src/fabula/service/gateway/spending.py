"""What a gateway's calls may spend: exact budgets of calls, tokens and money, over all clients.

A call reserves the most that it may cost before it begins, and is charged what it did cost at the
end. Where the reservations of the calls under way leave too little for the next one, that one waits
until they have ended, and is refused only if it would not fit even then. So no budget is exceeded,
as far as the most that a call may cost is known: its prompt by our count and the endpoint's earlier
counts, and its reply by `max_tokens`.

Budgets of a day or a month are kept in a file, with the reservations: those that a gateway leaves
behind when it is killed are charged as a whole at the next start.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from fabula.config.gateway import GatewaySettings
from fabula.errors import BudgetSpent, SettingsError

FILE = "gateway.sqlite"
LOCK_FILE = "gateway.lock"
Unit = Literal["calls", "tokens", "money"]
Period = Literal["run", "day", "month"]
TABLES = """
CREATE TABLE IF NOT EXISTS spent (
    day TEXT PRIMARY KEY, tokens INTEGER NOT NULL, money REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS under_way (
    id INTEGER PRIMARY KEY, tokens INTEGER NOT NULL, money REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS started (at REAL NOT NULL);
"""
CHARGE = """
INSERT INTO spent VALUES (?, ?, ?)
ON CONFLICT (day) DO UPDATE SET tokens = tokens + excluded.tokens, money = money + excluded.money
"""
TOLERANCE = 1e-9
"""US dollars: sums of many small prices are not exact to the last bit."""


@dataclass(frozen=True, slots=True)
class Amount:
    """What a call costs; `money` in US dollars."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        """Return the sum."""
        return Amount(
            self.calls + other.calls, self.tokens + other.tokens, self.money + other.money
        )

    def __sub__(self, other: Amount) -> Amount:
        """Return the difference."""
        return Amount(
            self.calls - other.calls, self.tokens - other.tokens, self.money - other.money
        )

    def of(self, unit: Unit) -> float:
        """Return the part in one unit."""
        return float(getattr(self, unit))


@dataclass(frozen=True, slots=True)
class SpendingLimit:
    """The most that all calls of a period may cost in one unit; `setting` names where it is set."""

    unit: Unit
    period: Period
    most: float
    setting: str


def spending_limits(
    gateway: GatewaySettings, max_calls: int | None, max_tokens: int | None
) -> list[SpendingLimit]:
    """Return the limits of the settings."""
    every: list[tuple[Unit, Period, float | None, str]] = [
        ("calls", "run", max_calls, "max_calls"),
        ("tokens", "run", max_tokens, "max_tokens"),
        ("tokens", "day", gateway.tokens_a_day, "gateway.tokens_a_day"),
        ("tokens", "month", gateway.tokens_a_month, "gateway.tokens_a_month"),
        ("money", "day", gateway.money_a_day, "gateway.money_a_day"),
        ("money", "month", gateway.money_a_month, "gateway.money_a_month"),
    ]
    return [
        SpendingLimit(unit, period, most, setting)
        for unit, period, most, setting in every
        if most is not None
    ]


class GatewayBill:
    """What one call costs; nothing until an answer is charged."""

    def __init__(self) -> None:
        self.amount = Amount()

    def charge(self, tokens: int, money: float) -> None:
        """Charge an answer."""
        self.amount = self.amount + Amount(1, tokens, money)


@dataclass(slots=True)
class Reservation:
    """What one call has reserved: its number in the file, once it is written."""

    id: int | None = None


class Spending:
    """What was spent and reserved, held against limits. For one event loop.

    Args:
        limits: The limits.
        file: Where days and reservations are kept; None to keep them in memory.

    """

    def __init__(self, limits: Iterable[SpendingLimit], file: SpendingFile | None = None) -> None:
        self.limits = tuple(limits)
        self._file = file
        self._run = Amount()
        self._days: dict[str, Amount] = file.days() if file else {}
        self._reserved = Amount()
        self._waiters: set[asyncio.Future[None]] = set()

    @property
    def needs_tokens(self) -> bool:
        """Whether the tokens of a call have to be estimated before it begins."""
        return any(limit.unit != "calls" for limit in self.limits)

    @property
    def needs_money(self) -> bool:
        """Whether there is a limit of money, so that models without a price are refused."""
        return any(limit.unit == "money" for limit in self.limits)

    @property
    def waiting(self) -> int:
        """The number of calls that wait for the end of others, whose reservations they need."""
        return len(self._waiters)

    def remaining(self) -> Mapping[str, float]:
        """Return what is left of each limit, by the name of its setting."""
        return {
            limit.setting: max(0.0, limit.most - self.spent(limit.period).of(limit.unit))
            for limit in self.limits
        }

    def spent(self, period: Period) -> Amount:
        """Return what was charged in the present period."""
        if period == "run":
            return self._run
        today = _today()
        prefix = today if period == "day" else today[:7]
        days = (amount for day, amount in self._days.items() if day.startswith(prefix))
        return sum(days, Amount())

    @asynccontextmanager
    async def call(self, most: Amount) -> AsyncIterator[GatewayBill]:
        """Reserve the most that a call may cost for as long as it lasts, and charge its bill.

        Raises:
            BudgetSpent: The call would exceed a limit, whatever the calls under way cost.

        """
        await self._wait_for_room(most)
        # Before the file is written, as others look for room meanwhile.
        self._reserved = self._reserved + most
        bill = GatewayBill()
        reservation = Reservation()
        try:
            if self._file:
                await self._file.do(partial(self._file.begin, reservation, most))
            yield bill
        finally:
            self._reserved = self._reserved - most
            self._run = self._run + bill.amount
            day = _today()
            self._days[day] = self._days.get(day, Amount()) + bill.amount
            # Before the file is written, which may fail; they go on once this has ended.
            for waiter in self._waiters:
                if not waiter.done():
                    waiter.set_result(None)
            if self._file:
                await self._file.do(partial(self._file.end, reservation, day, bill.amount))

    async def note_start(self) -> None:
        """Note that a call is sent now, for the calls a minute after a restart."""
        if self._file:
            await self._file.do(partial(self._file.note_start, time.time()))

    async def _wait_for_room(self, most: Amount) -> None:
        while not self._has_room(most):
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)

    def _has_room(self, most: Amount) -> bool:
        """Whether a call fits beside those under way. Raises BudgetSpent if it can't fit at all."""
        has_room = True
        for limit in self.limits:
            spent, needed = self.spent(limit.period).of(limit.unit), most.of(limit.unit)
            room = limit.most - spent + TOLERANCE
            if needed > room:
                raise BudgetSpent(_refusal(limit, spent, needed))
            has_room = has_room and self._reserved.of(limit.unit) + needed <= room
        return has_room


class SpendingFile:
    """Days, reservations and the starts of the last minute, in a file that one gateway has.

    What is written is in the file when the method returns, and survives the process however it
    ends; if the machine loses power, the last few charges may be lost.
    """

    def __init__(self, folder: Path) -> None:
        """Open the file of a folder, and charge what an earlier gateway had reserved.

        Raises:
            SettingsError: Another gateway uses the folder, or the file can't be used.

        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = FileLock(folder / LOCK_FILE)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise SettingsError(
                f"Another gateway with budgets runs with the folder {folder}: two would each spend "
                "the whole budget. Use that one (FABULA_GATEWAY_URL), or another FABULA_HOME."
            ) from error
        self._thread = ThreadPoolExecutor(1, "gateway-budgets")
        try:
            self._database = sqlite3.connect(folder / FILE, check_same_thread=False)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.executescript(TABLES)
            with self._database:
                [[tokens, money]] = self._database.execute(
                    "SELECT coalesce(sum(tokens), 0), coalesce(sum(money), 0.0) FROM under_way"
                )
                if tokens or money:
                    self._database.execute(CHARGE, (_today(), tokens, money))
                self._database.execute("DELETE FROM under_way")
        except sqlite3.Error as error:
            self._lock.release()
            raise SettingsError(f"{folder / FILE} can't be used: {error}.") from error

    async def do(self, work: Callable[[], None]) -> None:
        """Write in the thread of this file: the event loop goes on meanwhile.

        All that is written is written in the order of the calls, also if a caller is cancelled: the
        end of a call comes after its beginning.
        """
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, work))

    def close(self) -> None:
        """Close the file once all is written, and let another gateway have it."""
        self._thread.shutdown()
        self._database.close()
        self._lock.release()

    def days(self) -> dict[str, Amount]:
        """Return what was charged by day, as 2026-11-26 in UTC."""
        rows = self._database.execute("SELECT day, tokens, money FROM spent")
        return {day: Amount(0, tokens, money) for day, tokens, money in rows}

    def starts(self, seconds: float) -> list[float]:
        """Return how many seconds ago the calls of the last `seconds` were sent."""
        now = time.time()
        rows = self._database.execute("SELECT at FROM started WHERE at > ?", (now - seconds,))
        return [max(0.0, now - at) for (at,) in rows]

    def begin(self, reservation: Reservation, most: Amount) -> None:
        """Write a reservation, and note its number."""
        with self._database:
            row = self._database.execute(
                "INSERT INTO under_way (tokens, money) VALUES (?, ?)", (most.tokens, most.money)
            )
        reservation.id = row.lastrowid

    def end(self, reservation: Reservation, day: str, amount: Amount) -> None:
        """Replace a reservation by what was charged."""
        with self._database:
            self._database.execute("DELETE FROM under_way WHERE id = ?", (reservation.id,))
            if amount.calls:
                self._database.execute(CHARGE, (day, amount.tokens, amount.money))

    def note_start(self, at: float) -> None:
        """Write the time at which a call is sent, and delete those of more than two minutes ago."""
        with self._database:
            self._database.execute("DELETE FROM started WHERE at < ?", (at - 120,))
            self._database.execute("INSERT INTO started VALUES (?)", (at,))


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _refusal(limit: SpendingLimit, spent: float, needed: float) -> str:
    """The message for a call that a limit does not allow."""
    if limit.unit == "money":
        sums = f"${spent:,.4f} of ${limit.most:,.4f}; this call may cost ${needed:,.4f}"
    else:
        sums = f"{spent:,.0f} of {limit.most:,.0f} {limit.unit}"
        sums += f"; this call may take {needed:,.0f}" if limit.unit == "tokens" else ""
    of = {"run": "", "day": " of the day (UTC)", "month": " of the month (UTC)"}[limit.period]
    return (
        f"The gateway's budget{of} is spent: {sums} ({limit.setting}). Replies so far are saved: "
        "start again to continue from there once the budget is raised."
    )
