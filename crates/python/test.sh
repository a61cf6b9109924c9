#!/usr/bin/env bash
# Builds the wheel and the source distribution, installs the wheel into virtual environments of its own, runs
# the first lines of README.md in one that has nothing else, and runs the tests: on the newest scikit-learn,
# with --oldest on the oldest one that is supported, with --both on either. With --environments it makes the
# environments of the newest packages, and nothing else.
# The wheel is built in the profile of the workspace's tests, which shares what they compiled; PROFILE=release
# builds it as users get it. Environments and wheels are kept in target/ beside this file; remove it to begin
# anew. Needs Rust, and Python 3.10 or later with venv and pip.
set -eu
cd "$(dirname "$0")"
which=${1:---newest}
case "$which" in
  --newest | --oldest | --both | --environments) ;;
  *) echo "usage: bash test.sh [--newest | --oldest | --both | --environments]" >&2; exit 2 ;;
esac

python=${PYTHON:-python3}
if ! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2> /dev/null; then
  echo "SKIPPED: the wheel needs Python 3.10 or later with venv and pip; set PYTHON to one"
  exit 0
fi

environment() {
  local folder=$1
  shift
  # An environment that was not finished is made anew.
  if [ ! -e "$folder/finished" ] || [ "$(cat "$folder/finished")" != "$*" ]; then
    rm -rf "$folder"
    "$python" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    echo "$*" > "$folder/finished"
  fi
}

run() {
  local folder=$1
  "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall \
    target/wheels/*.whl
  "$folder/bin/python" -c 'import sklearn; print("scikit-learn", sklearn.__version__)'
  "$folder/bin/python" -m pytest --quiet -p no:cacheprovider --durations=10 --numprocesses 2 --dist worksteal
}

environment target/builder 'maturin>=1.9,<2'
newest=(scikit-learn pandas polars pyarrow matplotlib mypy "pyright[nodejs]" onnxruntime duckdb pytest
  pytest-xdist "dask[array,dataframe]" distributed "moto[server]" skops skl2onnx numpydoc array-api-strict)
# The packages of the tests are fetched while the wheel is compiled.
environment target/newest "${newest[@]}" &
fetching=$!
if [ "$which" = --environments ]; then
  wait "$fetching"
  exit
fi
rm -rf target/wheels
# maturin asks for a profile by name, and calls that of the tests "dev".
target/builder/bin/maturin build --quiet --profile "${PROFILE:-dev}" --locked --interpreter "$python" \
  --target-dir ../../target --out target/wheels
if ! target/builder/bin/maturin sdist --out target/wheels > target/sdist.log 2>&1; then
  cat target/sdist.log >&2
  exit 1
fi
wait "$fetching"
ls -l target/wheels

# As a new user has it: the wheel and what it asks for, nothing else, and the first lines of the page.
wheel=$(echo target/wheels/*.whl)
# `.ci/artifacts` holds the wheel of users to 10 MB. This one is not compiled for size.
[ "$(wc -c < "$wheel")" -le 20000000 ] || { echo "$wheel has more than 20 MB" >&2; exit 1; }
environment target/plain --upgrade pip
target/plain/bin/python -m pip install --quiet --disable-pip-version-check --force-reinstall "$wheel"
awk '/^```python/ { inside = 1; next } /^```/ { if (inside) exit } inside' README.md > target/first-lines.py
(cd target && plain/bin/python first-lines.py)

if [ "$which" != --oldest ]; then
  run target/newest
fi
if [ "$which" != --newest ]; then
  environment target/oldest 'scikit-learn==1.6.*' 'numpy<2' pandas pytest pytest-xdist
  run target/oldest
fi
