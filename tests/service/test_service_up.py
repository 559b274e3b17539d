"""The service answers, says what goes wrong in words, and starts and ends by command."""

from __future__ import annotations

import logging

import pytest

from database import cypher
from fabula import Settings, SettingsError
from fabula.library import App
from fabula.service.observe.requests import TextFormatter
from fabula.service.process import serve
from served import served


@pytest.fixture
def app(graph_url: str) -> App:
    return App()


@pytest.mark.journey
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


@pytest.mark.journey
def test_it_is_ready_once_its_neo4j_is_and_says_so_to_anyone(app: App) -> None:
    with app, served(app) as it:
        ready = it.client().get("/readyz")
        assert (ready.status_code, ready.json()) == (200, {"status": "ready"})


def test_each_request_has_an_id_of_its_own_and_its_trace_beside_it(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "fabula.service")
    with app, served(app) as it:
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        headers = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
        traced = [it.client().get("/livez", headers=headers) for _ in range(2)]
        own = [it.client().get("/livez") for _ in range(2)]
    ids = [one.headers["x-request-id"] for one in (*traced, *own)]
    assert len({*ids, trace}) == 5, "no two have one, and the caller gives none"
    assert all(len(id) == 32 for id in ids)
    logged = [record.fields for record in caplog.records if hasattr(record, "fields")]
    told = {one["request_id"]: one["trace_id"] for one in logged if "request_id" in one}
    assert [told[id] for id in ids] == [trace, trace, "", ""]


@pytest.mark.journey
def test_requests_are_counted_by_their_routes_pattern(app: App) -> None:
    with app, served(app) as it:
        client = it.client()
        client.get("/livez")
        client.get("/no/such/book")
        client.request("FROB", "/livez")
        text = client.get("/metrics").text
        assert 'fabula_requests_total{method="GET",route="/livez",status="200"} 1.0' in text
        assert 'fabula_requests_total{method="GET",route="",status="404"} 1.0' in text
        assert "/no/such/book" not in text
        assert 'method="other",route="/livez",status="405"' in text
        assert "FROB" not in text


def test_beyond_this_machine_it_listens_only_for_keys_that_hold(graph_url: str) -> None:
    settings = Settings.read(**{"serve.host": "0.0.0.0", "serve.port": 0})
    with App(settings) as app:
        expired = [{"id": "a", "expires": "datetime() - duration('PT1S')"}]
        for key in (None, *expired):
            if key:
                made = "CREATE (:ServiceKey {id: $id, name: 'a', role: 'read', made: datetime()"
                cypher(app.connect(), f"{made}, expires: {key['expires']}}})", id=key["id"])
            with pytest.raises(
                SettingsError, match=r"listen at 0\.0\.0\.0, which other machines reach"
            ):
                serve(app, ready=print)


def test_a_line_of_the_log_is_one_line_whatever_is_in_it() -> None:
    record = logging.makeLogRecord({"msg": "GET %s", "args": ("/a\nINFO: revoke key\x1b[2J",)})
    assert TextFormatter("%(message)s").format(record) == r"GET /a\nINFO: revoke key\x1b[2J"
