"""What a server's reply to a chat completion holds: the text of an answer, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resources.judge_calls import Fault

if TYPE_CHECKING:
    from openai import APIError, APIStatusError

LONGEST_PAUSE_SECONDS = 120.0
MESSAGE_CHARACTERS = 500

_NO_ROOM = re.compile(r"context.{0,12}(length|window|size)|(prompt|input|message)s?.{0,30}too (long|large)", re.I)
_TOO_LONG = re.compile(r"maximum.{0,20}tokens|too (long|many tokens|large)|exceeds.{0,30}tokens", re.I)
_PARAMETERS = ("response_format", "json_schema", "temperature", "max_completion_tokens", "max_tokens")
_STATUS_FAULTS = {401: Fault.UNAUTHORIZED, 403: Fault.UNAUTHORIZED, 404: Fault.NOT_FOUND, 413: Fault.TOO_LONG}
_STATUS_RETRIED = {408: Fault.TIMEOUT, 409: Fault.SERVER_ERROR, 425: Fault.SERVER_ERROR, 429: Fault.RATE_LIMITED}
_FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back of one request.

    `fault` is None where `text` may be an answer; it is read by whoever asked. `error` says what was wrong in words.
    `parameter` is the one that the server refuses, where it refuses one. `is_billed` is None where nobody can know.
    `is_completion` says that a model spoke at all, and not a proxy or another kind of server.
    """

    text: str | None = None
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    fault: Fault | None = None
    error: str = ""
    parameter: str = ""
    pause_seconds: float | None = None
    is_billed: bool | None = True
    is_completion: bool = False


def reply_of(data: object) -> Reply:
    """The reply that a body with status 200 is."""
    choice = _first_choice(data)
    if choice is None:
        said = " ".join(str(data).split())
        return Reply(
            text=str(data)[:MESSAGE_CHARACTERS],
            fault=Fault.NO_ANSWER,
            error=f"the server answered {said[:80]!r} instead of a chat completion; base_url often has to end in /v1",
        )
    message = choice.get("message")
    message = message if isinstance(message, Mapping) else {}
    text, refusal = _text_of(message.get("content")), message.get("refusal")
    finish = choice.get("finish_reason")
    finish = finish if isinstance(finish, str) else None
    fault, error = _fault_of(text, refusal, finish)
    usage = data.get("usage") if isinstance(data, Mapping) else None
    return Reply(
        text=text if text or not isinstance(refusal, str) else refusal,
        finish_reason=finish,
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        fault=fault,
        error=error,
        is_completion=True,
    )


def _first_choice(data: object) -> Mapping[str, Any] | None:
    choices = data.get("choices") if isinstance(data, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, Mapping) else None


def _text_of(content: object) -> str:
    """The text of a message's content, which some servers give in parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _fault_of(text: str, refusal: object, finish: str | None) -> tuple[Fault | None, str]:
    if finish == "length":
        return Fault.CUT_OFF, "the answer was cut off at its longest length (finish_reason length)"
    if finish == "content_filter":
        return Fault.REFUSED, "the server's content filter held the answer back"
    if isinstance(refusal, str) and refusal.strip():
        return Fault.REFUSED, "the model refused to answer"
    if not text.strip():
        return Fault.NO_ANSWER, "the answer is empty"
    return None, ""


def _count(usage: object, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def answer_text(text: str) -> str:
    """The text without a block of thought before it and without a code fence around all of it."""
    rest = _THOUGHT.sub("", text, count=1)
    fenced = _FENCED.match(rest)
    return fenced.group(1) if fenced else rest


def failure_of(error: APIError) -> Reply:
    """What an exception of the `openai` client says about the request; its message may still hold a key."""
    from openai import APIConnectionError, APIStatusError, APITimeoutError

    match error:
        case APITimeoutError():
            return Reply(fault=Fault.TIMEOUT, error="no answer within the time limit", is_billed=None)
        case APIConnectionError():
            reason = error.__cause__ or error
            return Reply(fault=Fault.CONNECTION, error=f"the connection failed ({reason})", is_billed=False)
        case APIStatusError():
            return _status_failure(error)
        case _:
            return Reply(fault=Fault.NO_ANSWER, error=f"the answer could not be read ({error})")


def _status_failure(error: APIStatusError) -> Reply:
    status, message = error.status_code, " ".join(_message_of(error).split())
    said = f"{message} {error.code or ''} {error.param or ''}"
    fault, parameter = _status_fault(status, said, error.code)
    return Reply(
        fault=fault,
        error=f"HTTP {status}: {message[:MESSAGE_CHARACTERS]}",
        parameter=parameter,
        pause_seconds=_pause(error.response.headers.get("retry-after")),
        is_billed=False,
    )


def _message_of(error: APIStatusError) -> str:
    """The server's own words where its body has the usual shape, else what the client makes of it."""
    body: object = error.body
    message = body.get("message") if isinstance(body, Mapping) else None
    return message if isinstance(message, str) and message else str(error.message)


def _status_fault(status: int, said: str, code: str | None) -> tuple[Fault, str]:
    if status == 429 and (code == "insufficient_quota" or "insufficient_quota" in said):
        return Fault.NO_QUOTA, ""
    if status in _STATUS_RETRIED or status >= 500:
        return _STATUS_RETRIED.get(status, Fault.SERVER_ERROR), ""
    if status in _STATUS_FAULTS:
        return _STATUS_FAULTS[status], ""
    if code == "context_length_exceeded" or _NO_ROOM.search(said):
        return Fault.TOO_LONG, ""
    parameter = next((name for name in _PARAMETERS if name in said), "")
    if parameter:
        return Fault.PARAMETER, "response_format" if parameter == "json_schema" else parameter
    return (Fault.TOO_LONG if _TOO_LONG.search(said) else Fault.BAD_REQUEST), ""


def _pause(header: str | None) -> float | None:
    """The seconds that a Retry-After header asks for; dates are left to the usual pause."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return min(max(0.0, seconds), LONGEST_PAUSE_SECONDS) if seconds == seconds else None
