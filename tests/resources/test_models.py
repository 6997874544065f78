from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from resources.models import HostedModel, ModelError, ModelRequest, cost_of
from resources.settings import Endpoint
from scoring.errors import InputError
from scoring.records import Document, Model
from tests.judge_server import Asked, JudgeServer, Reply, completion, html, only, refusal

SCHEMA: Any = {"type": "object", "properties": {"name": {"type": "string", "x-assay": {"weight": 2}}}}
REQUEST = ModelRequest(prompt="Who built it?", schema=SCHEMA, documents=[Document(name="a.txt", text="Eiffel \ud800")])
KEY = "sk-very-secret"


def model_at(server: JudgeServer, *, web_search: str | None = None) -> HostedModel:
    return HostedModel(
        model=Model(model_id="lab/strong", input_usd_per_million=2.0, output_usd_per_million=10.0),
        endpoint=Endpoint(model="strong", base_url=server.base_url, api_key_env="LAB_KEY", web_search=web_search),
        environment={"LAB_KEY": KEY},
    )


def test_a_model_is_asked_with_prompt_schema_and_documents_and_its_answer_is_priced() -> None:
    with JudgeServer(only(completion('{"name": "Eiffel"}'))) as server:
        answer = model_at(server).answer(REQUEST)
        (asked,) = server.asked
    assert answer.text == '{"name": "Eiffel"}'
    assert (answer.input_tokens, answer.output_tokens) == (1000, 50)
    assert answer.cost_usd == pytest.approx(0.0025)
    assert answer.duration_seconds > 0
    assert asked.body["model"] == "strong"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    form = asked.body["response_format"]["json_schema"]["schema"]
    assert form == {"type": "object", "properties": {"name": {"type": "string"}}}
    user = asked.messages[1]["content"]
    assert user.startswith("Who built it?")
    assert "Document a.txt:\nEiffel ?" in user
    assert "x-assay" not in json.dumps(asked.body)


def test_a_server_that_refuses_schema_or_search_is_asked_without_them() -> None:
    def script(asked: Asked) -> Reply:
        if "plugins" in asked.body:
            return refusal(400, "unknown field: plugins")
        if "response_format" in asked.body:
            return refusal(400, "response_format is not supported")
        return completion("{}")

    with JudgeServer(script) as server:
        request = ModelRequest(prompt="Who?", schema=SCHEMA, wants_web_search=True)
        answer = model_at(server, web_search="openrouter").answer(request)
        assert [sorted({"plugins", "response_format"} & set(one.body)) for one in server.asked] == [
            ["plugins", "response_format"],
            ["response_format"],
            [],
        ]
    assert not answer.has_searched


@pytest.mark.parametrize(
    ("dialect", "field"), [("openai", "web_search_options"), ("openrouter", "plugins"), ("xai", "search_parameters")]
)
def test_the_web_is_searched_where_the_provider_offers_it_and_it_is_wanted(dialect: str, field: str) -> None:
    with JudgeServer(only(completion("{}"))) as server:
        model = model_at(server, web_search=dialect)
        assert model.answer(ModelRequest(prompt="Who?", wants_web_search=True)).has_searched
        assert not model.answer(ModelRequest(prompt="Who?")).has_searched
        assert [field in one.body for one in server.asked] == [True, False]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (completion("{", finish_reason="length"), "cut off"),
        (completion(None, refusal="I will not"), "declined: I will not"),
        (completion(""), "the answer is empty"),
        (refusal(401, f"bad key {KEY}"), "HTTP 401"),
        (html(), "base_url often ends in /v1"),
    ],
)
def test_what_is_no_answer_is_an_error_that_names_the_model_and_hides_the_key(reply: Reply, words: str) -> None:
    with JudgeServer(only(reply)) as server, pytest.raises(ModelError, match=words) as raised:
        model_at(server).answer(REQUEST)
    assert str(raised.value).startswith("lab/strong ")
    assert KEY not in str(raised.value)


def test_no_connection_outlives_the_answer() -> None:
    with JudgeServer(only(completion("{}"))) as server:
        model_at(server).answer(REQUEST)
        port = urlsplit(server.base_url).port
        assert [one for one in psutil.Process().net_connections() if one.raddr and one.raddr.port == port] == []


def test_a_key_that_is_not_set_is_named() -> None:
    endpoint = Endpoint(model="strong", base_url="http://127.0.0.1:9/v1", api_key_env="LAB_KEY")
    model = HostedModel(model=Model(model_id="lab/strong"), endpoint=endpoint, environment={})
    with pytest.raises(InputError, match="LAB_KEY is not set"):
        model.answer(REQUEST)


def test_an_unknown_price_or_count_is_no_cost() -> None:
    assert cost_of(Model(model_id="m"), 10, 10) is None
    assert cost_of(Model(model_id="m", input_usd_per_million=0.0, output_usd_per_million=0.0), 10, 10) == 0
    assert cost_of(Model(model_id="m", input_usd_per_million=1.0, output_usd_per_million=1.0), None, 10) is None
