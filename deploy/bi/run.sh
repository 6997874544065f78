#!/bin/sh
# The end-to-end test with Apache Superset as BI tool: an environment of its own (1 GB, once), then the test.
set -eu
cd "$(dirname "$0")/../.."
unset PYTHONDONTWRITEBYTECODE PYTHONHOME PYTHONPATH VIRTUAL_ENV CONDA_PREFIX || true
home=.assay/bi
lock=deploy/bi/requirements.lock
if ! cmp -s "$lock" "$home/installed.lock"; then
    mkdir -p "$home"
    .venv/bin/uv venv --quiet --clear --python .venv/bin/python "$home/venv"
    .venv/bin/uv pip install --quiet --python "$home/venv" --require-hashes -r "$lock"
    cp "$lock" "$home/installed.lock"
fi
.venv/bin/python -m pytest tests/test_superset.py -m superset -q -n 0
cat "$home/report.txt"
