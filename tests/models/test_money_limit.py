"""Money is reserved before a call: its prompt's price, and that of an average reply."""

from __future__ import annotations

import pytest

from fabula.errors import BudgetSpent
from fabula.models.budget import Budget, Budgets, MoneyLimit
from fabula.models.usage import Usage


def limit(most: float) -> MoneyLimit:
    """A dollar a token sent, two a token received, half of it by batches; `free` costs nothing."""

    def price(model: str, usage: Usage) -> float:
        share = 0.5 if usage.batch_prompt_tokens or usage.batch_completion_tokens else 1.0
        dollars = usage.prompt_tokens + 2 * usage.completion_tokens
        return 0.0 if model == "free" else share * dollars

    return MoneyLimit(most, price, lambda spent: f"${spent:g} of ${most:g}")


def test_calls_under_way_count_with_their_prompts() -> None:
    budget = Budget(money=limit(10))
    with budget.call(6, model="m"):
        with pytest.raises(BudgetSpent, match=r"\$12 of \$10"), budget.call(6, model="m"):
            pass
        with budget.call(6, model="free"), budget.call(4, model="m"):
            pass
    # None of them was answered, so nothing was spent.
    with budget.call(10, model="m"):
        pass


def test_a_call_reserves_an_average_reply_of_its_model() -> None:
    budget = Budget(money=limit(100))
    for received in (5, 15):
        with budget.call(10, model="m") as bill:
            bill.add(10 + received, received=received)
    # 60 are spent: 20 for prompts, 40 for replies; the next is expected to cost 10 + 2 * 10.
    with budget.call(10, model="m"):
        with pytest.raises(BudgetSpent, match=r"\$120 of \$100"), budget.call(10, model="m"):
            pass
        with budget.call(10, model="other"):  # which has not replied yet
            pass


def test_a_stream_and_a_batch_are_charged_at_their_prices() -> None:
    budget = Budget(money=limit(25))
    with budget.call(4, model="m") as bill:
        bill.add(4 + 1, received=1)
        bill.add(2, received=2)
    # 4 + 2 * 3 are spent, and the next call is expected to cost half of 20 + 2 * 3.
    with budget.call(20, model="m", is_batched=True) as bill:
        bill.add(20)
        with pytest.raises(BudgetSpent, match=r"\$30 of \$25"), budget.call(1, model="m"):
            pass
    # Half of 20 was charged.
    with budget.call(2, model="other"):
        pass
    with pytest.raises(BudgetSpent), budget.call(6, model="other"):
        pass


def test_replies_that_come_by_batches_cost_money_and_are_expected_from_then_on() -> None:
    budget = Budget(money=limit(40))
    for _ in range(2):
        with budget.call(10, model="m", is_batched=True) as bill:
            bill.add(10)
    # Half of 20 was charged; each reply costs half of 2 * 6.
    for _ in range(2):
        budget.add("m", Usage(0, 0, 6).batched)
    assert budget.tokens == 32
    # 22 are spent, and the next call is expected to cost half of 24 + 2 * 6.
    with budget.call(24, model="m", is_batched=True):
        pass
    more = budget.call(26, model="m", is_batched=True)
    with pytest.raises(BudgetSpent, match=r"\$41 of \$40"), more:
        pass


def test_texts_that_are_embedded_by_batches_cost_money() -> None:
    budget = Budget(money=limit(10))
    Budgets((budget,)).add("m", Usage(0, 16).batched)
    with pytest.raises(BudgetSpent, match=r"\$11 of \$10"), budget.call(3, model="m"):
        pass
