#!/bin/sh
# Builds .venv from requirements.lock and puts the command `assay` into it. Run again, it brings .venv up to date.
set -eu
UV_VERSION=0.13.9
PIP_VERSION=25.3
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

# Debian's python3 may come without ensurepip: then its own pip brings one in, or root installs Debian's venv package.
make_environment() {
    python=$(find_python)
    echo "setup: making .venv with $("$python" --version)"
    rm -rf .venv
    if "$python" -m venv .venv >/dev/null 2>&1; then
        return
    fi
    rm -rf .venv
    if "$python" -m pip --version >/dev/null 2>&1 && "$python" -m venv --without-pip .venv &&
        "$python" -m pip --python .venv/bin/python install --quiet --disable-pip-version-check "pip==$PIP_VERSION"; then
        return
    fi
    rm -rf .venv
    package="python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "setup: installing Debian's $package"
        { apt-get update && apt-get install --yes --no-install-recommends "$package"; } >/dev/null
        "$python" -m venv .venv
        return
    fi
    echo "setup: $python can make no virtual environment. Install its venv module (Debian: apt-get install $package)" >&2
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
