#!/bin/sh
# The end-to-end test with a real small language model as judge: an environment of its own (1.4 GB, once), then the test.
set -eu
cd "$(dirname "$0")/../.."
unset PYTHONDONTWRITEBYTECODE PYTHONHOME PYTHONPATH VIRTUAL_ENV CONDA_PREFIX || true
home=.assay/real-judge
lock=deploy/real_judge/requirements.lock
if ! cmp -s "$lock" "$home/installed.lock"; then
    mkdir -p "$home"
    .venv/bin/uv venv --quiet --clear --python .venv/bin/python "$home/venv"
    .venv/bin/uv pip install --quiet --python "$home/venv" --require-hashes -r "$lock"
    cp "$lock" "$home/installed.lock"
fi
.venv/bin/python -m pytest tests/test_real_judge.py -m real_judge -q
cat "$home/report.txt"
