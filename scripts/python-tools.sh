#!/usr/bin/env bash
# Prints the path of a Python that has what tests of the Python package need, in .cache/tools/python: pytest, mypy, maturin,
# pycrdt and pyright, in these versions. GROUPWIRE_PYTHON names another interpreter to make it from.
set -euo pipefail
cd "$(dirname "$0")/.."

pyright=1.1.414
python=${GROUPWIRE_PYTHON:-python3}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# pycrdt has ended support for Python 3.10.
[[ $version == 3.10 ]] && pycrdt=0.14.8 || pycrdt=0.14.13
packages=(pytest==9.2.0 mypy==2.4.1 maturin==1.16.0 "pycrdt==$pycrdt")
tools=$PWD/.cache/tools/python/$version
stamp="${packages[*]} pyright@$pyright"

if [[ ! -f $tools/stamp || $(<"$tools/stamp") != "$stamp" ]]; then
    echo "python: installing $stamp for Python $version (once, some 20 s)" >&2
    rm -rf "$tools"
    "$python" -m venv "$tools" >&2
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "${packages[@]}" >&2
    npm install --silent --no-audit --no-fund --prefix "$tools/pyright" "pyright@$pyright" >&2
    echo "$stamp" >"$tools/stamp"
fi
echo "$tools/bin/python"
