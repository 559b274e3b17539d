"""The service answers, says what goes wrong in words, and starts and ends by command."""

from __future__ import annotations

import pytest

from fabula.app import App
from served import served


@pytest.fixture
def app(graph_url: str) -> App:
    return App()


def test_it_answers_that_it_lives(app: App) -> None:
    with app, served(app) as it:
        assert it.client().get("/livez").json() == {"status": "alive"}


def test_what_goes_wrong_is_a_problem_in_json_for_programs_and_a_page_for_people(app: App) -> None:
    with app, served(app) as it:
        problem = it.client().get("/api/v1/nothing")
        assert problem.status_code == 404
        assert problem.headers["content-type"] == "application/problem+json"
        assert problem.json()["detail"] == "There is nothing here."
        page = it.client().get("/nothing")
        assert page.status_code == 404
        assert "There is nothing here." in page.text
        assert page.headers["content-type"].startswith("text/html")


def test_it_is_ready_once_its_neo4j_is_and_says_so_to_anyone(app: App) -> None:
    with app, served(app) as it:
        ready = it.client().get("/readyz")
        assert (ready.status_code, ready.json()) == (200, {"status": "ready"})


def test_each_response_has_an_id_that_a_trace_may_give(app: App) -> None:
    with app, served(app) as it:
        given = "4bf92f3577b34da6a3ce929d0e0e4736"
        headers = {"traceparent": f"00-{given}-00f067aa0ba902b7-01"}
        assert it.client().get("/livez", headers=headers).headers["x-request-id"] == given
        own = {it.client().get("/livez").headers["x-request-id"] for _ in range(2)}
        assert len(own) == 2
        assert all(len(id) == 32 for id in own)


def test_requests_are_counted_by_their_routes_pattern(app: App) -> None:
    with app, served(app) as it:
        client = it.client()
        client.get("/livez")
        client.get("/no/such/book")
        told = client.get("/metrics").text
        assert 'fabula_requests_total{method="GET",route="/livez",status="200"} 1.0' in told
        assert 'fabula_requests_total{method="GET",route="",status="404"} 1.0' in told
        assert "/no/such/book" not in told
