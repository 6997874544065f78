#!/bin/sh
# Builds .venv from requirements.lock and puts the command `assay` into it. Run again, it brings .venv up to date.
set -eu
UV_VERSION=0.13.9
PIP_WHEEL=pip-25.3-py3-none-any.whl
PIP_SHA256=9655943313a94722b7774661c21049070f6bbb0a1516bf02f7c8d5d9201514cd
cd "$(dirname "$0")/.."
unset PYTHONDONTWRITEBYTECODE PYTHONHOME PYTHONPATH VIRTUAL_ENV CONDA_PREFIX || true

is_supported() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
}

find_python() {
    for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
        if [ -n "$candidate" ] && is_supported "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    echo "setup: Python 3.11, 3.12 or 3.13 is needed and was not found. Install one, or name it: make setup PYTHON=/path/to/python3.11" >&2
    exit 1
}

# Debian's python3 may come without ensurepip and without pip: then one wheel of pip from the registry brings itself in.
fetch_pip() {
    .venv/bin/python - "$PIP_WHEEL" "$PIP_SHA256" <<'PYTHON'
import hashlib, json, os, pathlib, sys, urllib.parse, urllib.request
name, sha256 = sys.argv[1:]
index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"
request = urllib.request.Request(index, headers={"Accept": "application/vnd.pypi.simple.v1+json"})
files = json.load(urllib.request.urlopen(request, timeout=60))["files"]
url = next(file["url"] for file in files if file["filename"] == name)
wheel = urllib.request.urlopen(urllib.parse.urljoin(index, url), timeout=120).read()
if hashlib.sha256(wheel).hexdigest() != sha256:
    sys.exit(f"setup: {url} is not the expected file")
pathlib.Path(".venv", name).write_bytes(wheel)
PYTHON
    .venv/bin/python ".venv/$PIP_WHEEL/pip" install --quiet --disable-pip-version-check --no-index ".venv/$PIP_WHEEL"
}

make_environment() {
    python=$(find_python)
    echo "setup: making .venv with $("$python" --version)"
    rm -rf .venv
    if "$python" -m venv .venv >/dev/null 2>&1; then
        return
    fi
    rm -rf .venv
    if "$python" -m venv --without-pip .venv && fetch_pip; then
        return
    fi
    rm -rf .venv
    echo "setup: $python can make no virtual environment. Install its venv module (Debian: apt-get install python3-venv)" >&2
    exit 1
}

if ! is_supported .venv/bin/python; then
    make_environment
fi
if [ ! -x .venv/bin/uv ]; then
    .venv/bin/python -m pip install --quiet --disable-pip-version-check "uv==$UV_VERSION"
fi

# uv is quick and compiles what it installs. Where the registry is known to pip alone (pip.conf), pip does the same slowly.
install() {
    if ! .venv/bin/uv pip install --python .venv/bin/python --system-certs "$@"; then
        echo "setup: uv could not install; trying pip" >&2
        .venv/bin/python -m pip install --disable-pip-version-check "$@"
    fi
}

echo "setup: installing what requirements.lock names (the first time about 450 MB)"
UV_COMPILE_BYTECODE=1 install --quiet --require-hashes -r requirements.lock
install --quiet --no-deps --config-settings editable_mode=compat -e .
touch .venv/ready
echo "setup: ready; the command is .venv/bin/assay"
