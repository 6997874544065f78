"""Logs in the shape that Inspect and promptfoo write, made up for the tests."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Object = dict[str, Any]
MODEL = "vendor/large:free"


def inspect_sample(sample_id: str | int = "film", epoch: int = 1, answer: str = '{"a": 1}', **more: Any) -> Object:
    """A finished sample whose model answered once; `more` replaces members, None takes one away."""
    usage = {"input_tokens": 10, "output_tokens": 20, "total_tokens": 30, "total_cost": 0.25}
    message = {"id": "m2", "content": answer, "source": "generate", "role": "assistant", "model": "large"}
    sample: Object = {
        "id": sample_id,
        "epoch": epoch,
        "input": "When?",
        "target": "1942",
        "messages": [{"id": "m1", "content": "When?", "source": "input", "role": "user"}, message],
        "output": {
            "model": "large",
            "choices": [{"message": message, "stop_reason": "stop"}],
            "completion": answer,
            "usage": usage,
            "time": 1.5,
        },
        "scores": {"match": {"value": "I", "answer": answer}},
        "metadata": {"doc": "film"},
        "store": {},
        "events": [{"event": "sample_init"}, {"event": "model", "model": MODEL, "cache": "write", "output": {}}],
        "model_usage": {MODEL: usage, "vendor/grader": {"input_tokens": 900, "output_tokens": 900}},
        "total_time": 9.0,
        "working_time": 7.0,
        "attachments": {},
    }
    return {key: value for key, value in (sample | more).items() if value is not None}


def inspect_header(status: str = "success", **more: Any) -> Object:
    """What an Inspect log has before its samples."""
    spec = {"run_id": "r", "created": "2026-01-01T00:00:00+00:00", "task": "cinema/film", "model": MODEL, "config": {}}
    return {"version": 2, "status": status, "eval": spec | more, "plan": {"name": "plan"}, "stats": {}}


def inspect_json(*samples: Object, **header: Any) -> str:
    """The text of a whole `.json` log."""
    return json.dumps({**inspect_header(**header), "samples": list(samples)}, indent=2)


def inspect_members(*samples: Object, **header: Any) -> dict[str, str]:
    """What lies in an `.eval` archive of these samples."""
    start = {key: value for key, value in inspect_header(**header).items() if key in ("version", "eval", "plan")}
    members = {"_journal/start.json": json.dumps(start)}
    for sample in samples:
        members[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = json.dumps(sample, indent=2)
    return members | {"summaries.json": "[]", "header.json": json.dumps(inspect_header(**header))}


def write_zip(path: Path, members: Mapping[str, str | bytes], *, is_zstandard: bool = False) -> Path:
    """A zip of the members: deflated, or packed with Zstandard as newer versions of Inspect do."""
    import pyarrow as pa

    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            content = text.encode() if isinstance(text, str) else text
            if not is_zstandard:
                archive.writestr(name, content)
                continue
            half = len(content) // 2
            packer = pa.Codec("zstd")
            frames = [packer.compress(part, asbytes=True) for part in (content[:half], content[half:])]
            archive.writestr(name, b"".join(frames), zipfile.ZIP_STORED)
            # Python's zipfile writes no Zstandard before 3.14, so the directory is told what the bytes are.
            info = archive.getinfo(name)
            info.compress_type, info.file_size, info.CRC = 93, len(content), zlib.crc32(content)
    return path


def promptfoo_result(scenario: str = "film", output: Any = '{"a": 1}', **more: Any) -> Object:
    """A result whose assertion failed, of a test that its description names; None takes a member away."""
    usage = {"total": 30, "prompt": 10, "completion": 20}
    result: Object = {
        "cost": 0.25,
        "error": "Expected output to contain 1942",
        "gradingResult": {"pass": False, "score": 0, "reason": "Expected output to contain 1942"},
        "id": "0b5c",
        "latencyMs": 1500,
        "namedScores": {},
        "prompt": {"raw": "When was it?", "label": "When was {{it}}?"},
        "promptId": "p",
        "promptIdx": 0,
        "provider": {"id": MODEL, "label": ""},
        "response": {"output": output, "tokenUsage": usage, "cached": False, "cost": 0.25},
        "score": 0,
        "success": False,
        "testCase": {"vars": {"it": "film"}, "assert": [], "options": {}, "description": scenario, "metadata": {}},
        "testIdx": 0,
        "vars": {"it": "film"},
        "metadata": {},
        "failureReason": 1,
    }
    return {key: value for key, value in (result | more).items() if value is not None}


def promptfoo_json(*results: Object, version: int = 3) -> str:
    """The text of a results.json."""
    summary: Object = {"version": version, "timestamp": "2026-01-01T00:00:00.000Z"}
    if version == 2:
        summary |= {"results": list(results), "stats": {}, "table": {"head": {}, "body": []}}
        return json.dumps({"results": summary, "config": {}, "shareableUrl": None}, indent=2)
    summary |= {"prompts": [], "results": list(results), "stats": {"successes": 0}}
    return json.dumps({"evalId": "eval-abc", "results": summary, "config": {}, "shareableUrl": None}, indent=2)
