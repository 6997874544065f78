"""One chat model behind an OpenAI-compatible server, asked through the `openai` client one request at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from resources.chat_replies import Reply, failure_of, reply_of
from resources.chat_transport import http_client
from resources.hosted_embeddings import host_of
from resources.judge_calls import Fault
from resources.settings import Endpoint
from scoring.errors import InputError
from scoring.records import Json

if TYPE_CHECKING:
    from httpx2 import Response
    from openai import AsyncOpenAI

Messages = Sequence[Mapping[str, str]]

CHARACTERS_PER_TOKEN, TOKENS_PER_ESCAPE, ESCAPE_CHARACTERS = 4, 2, 6
"""About right for English and JSON, where other scripts stand as `\\uXXXX`. The server has the last word."""

_FORMATS = ("json_schema", "json_object", "none")
_LENGTH_NAMES = ("max_tokens", "max_completion_tokens", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerForm:
    """The JSON Schema that an answer is to follow. `is_strict` asks the server to hold the model to it."""

    name: str
    schema: Json
    is_strict: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What a server turned out to accept: the way to say the answer's format and length, and a temperature."""

    format: str = _FORMATS[0]
    length_name: str = _LENGTH_NAMES[0]
    has_temperature: bool = True

    def without(self, parameter: str) -> Habits | None:
        """The next best habits for a server that refuses this parameter; None where there is nothing left to give up.

        A parameter that is not sent any more was given up by another request meanwhile: the habits stay as they are.
        """
        match parameter:
            case "response_format":
                at = _FORMATS.index(self.format) + 1
                return replace(self, format=_FORMATS[at]) if at < len(_FORMATS) else None
            case "temperature":
                return replace(self, has_temperature=False) if self.has_temperature else None
            case "max_tokens" | "max_completion_tokens":
                at = _LENGTH_NAMES.index(self.length_name) + 1
                return replace(self, length_name=_LENGTH_NAMES[at]) if at < len(_LENGTH_NAMES) else None
            case _:
                return None


def estimated_tokens(messages: Messages) -> int:
    """About how many tokens these messages are."""
    texts = [message["content"] for message in messages]
    escapes = sum(text.count("\\u") for text in texts)
    plain = sum(map(len, texts)) - ESCAPE_CHARACTERS * escapes
    return plain // CHARACTERS_PER_TOKEN + TOKENS_PER_ESCAPE * escapes + 8 * len(texts)


@dataclass(slots=True, kw_only=True, eq=False)
class ChatClient:
    """One model of one server. The key is read from the environment when it is opened, and never shown.

    What the server refuses of the `habits` (`temperature`, `max_tokens`, a JSON schema) is left out from then on;
    `parameters` are its owner's, who has to mend what is refused. Nothing is retried here and nothing is raised for a
    failed request: the reply says what came of it. `role` names it in errors: judge or model.
    """

    endpoint: Endpoint
    environment: Mapping[str, str]
    timeout_seconds: float
    max_answer_tokens: int | None
    role: str = "judge"
    habits: Habits = field(default_factory=Habits)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    _client: AsyncOpenAI | None = None

    @property
    def name(self) -> str:
        """The server's host and the model's name there."""
        return f"{host_of(self.endpoint.base_url)}/{self.endpoint.model}"

    def open(self) -> AsyncOpenAI:
        """Ready to ask, in the running event loop. Raises InputError that names the variable of a missing key."""
        from openai import AsyncOpenAI

        if self._client is None:
            self._client = AsyncOpenAI(
                base_url=self.endpoint.base_url,
                api_key=self._key(),
                max_retries=0,
                timeout=self.timeout_seconds,
                http_client=http_client(),
            )
        return self._client

    async def close(self) -> None:
        """All its connections are closed."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _key(self) -> str:
        return key_of(self.endpoint, self.environment, where=f"{self.role} {self.name}")

    async def send(self, messages: Messages, form: AnswerForm | None) -> Reply:
        """What comes back of this conversation; no text of it holds the key."""
        longest = self.endpoint.max_prompt_tokens
        if longest is not None and (tokens := estimated_tokens(messages)) > longest:
            return Reply(
                fault=Fault.TOO_LONG,
                error=f"the prompt is too long: about {tokens} tokens, and max_prompt_tokens is {longest}",
                is_billed=False,
            )
        habits = self.habits
        reply = await self._sent(self._body(messages, form, habits))
        if reply.fault is Fault.PARAMETER:
            reply = self._after_refusal(reply, habits)
        return replace(reply, error=self.without_key(reply.error), text=self._shown(reply.text))

    async def _sent(self, body: dict[str, Any]) -> Reply:
        from httpx2 import Response
        from openai import APIError

        client = self.open()
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return reply_of(_content(await client.post("/chat/completions", cast_to=Response, body=body)))
        except TimeoutError:
            return Reply(fault=Fault.TIMEOUT, error="no answer within the time limit", is_billed=None)
        except APIError as error:
            return failure_of(error)
        except (ValueError, RecursionError) as error:
            return Reply(fault=Fault.NO_ANSWER, error=f"the server's answer is no JSON ({error})")

    def _body(self, messages: Messages, form: AnswerForm | None, habits: Habits) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.endpoint.model, "messages": list(messages), **self.parameters}
        if habits.has_temperature:
            body["temperature"] = 0
        if habits.length_name and self.max_answer_tokens is not None:
            body[habits.length_name] = self.max_answer_tokens
        if form is not None and habits.format == "json_schema":
            schema = {"name": form.name, "strict": form.is_strict, "schema": form.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif form is not None and habits.format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _after_refusal(self, reply: Reply, used: Habits) -> Reply:
        """The reply after the habits have changed, or as a bad request where there is nothing left to change."""
        if self.habits != used:
            return reply
        habits = used.without(reply.parameter)
        if habits is None:
            return replace(reply, fault=Fault.BAD_REQUEST)
        self.habits = habits
        return reply

    def without_key(self, text: str) -> str:
        """The text with `***` wherever the key stood."""
        key = self.environment.get(self.endpoint.api_key_env or "", "").strip()
        return text.replace(key, "***") if key else text

    def _shown(self, text: str | None) -> str | None:
        return None if text is None else self.without_key(text)


def _content(response: Response) -> object:
    """The JSON that a response holds, or its text where it does not say that it is JSON."""
    kind, *_ = response.headers.get("content-type", "").split(";")
    return response.json() if kind.endswith("json") else response.text


def remedy_for(fault: Fault, endpoint: Endpoint, *, too_long: str) -> str:
    """What to do about a request that failed, as words to follow the reason; empty where nothing is to be said."""
    match fault:
        case Fault.UNAUTHORIZED:
            variable = endpoint.api_key_env
            return f". Check the key in {variable}" if variable else ". Name the key's variable in api_key_env"
        case Fault.NOT_FOUND:
            return f". Check base_url and that the server has a model {endpoint.model!r}"
        case Fault.TOO_LONG:
            return f". Nothing was cut: {too_long}"
        case _:
            return ""


def key_of(endpoint: Endpoint, environment: Mapping[str, str], *, where: str) -> str:
    """The server's key, `none` where it wants none. Raises InputError that names the variable of a missing one."""
    variable = endpoint.api_key_env
    if not variable:
        return "none"
    key = environment.get(variable, "").strip()
    if not key:
        raise InputError(
            f"the environment variable {variable} is not set",
            where=where,
            remedy=f"Set {variable} to the server's key, or remove api_key_env if it wants none",
        )
    return key
