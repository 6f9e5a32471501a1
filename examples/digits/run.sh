#!/usr/bin/env bash
# The main job: train in Python twice, classify from C++, tune by exported variables. Started by `./dev demo`, which sets PYTHON,
# MXNET_LIBRARY_PATH, PYTHONPATH and CMAKE_PREFIX_PATH. Arguments go to the training scripts (--epochs N, --gpu).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${DIGITS_OUT:-$here/../../build/digits}
python=${PYTHON:-python3}
mkdir -p "$out"
cd "$here"
echo "== 1. Gluon"
"$python" train_gluon.py --out "$out" "$@"
echo "== 2. Symbol and Executor"
"$python" train_symbol.py "$@"
echo "== 3. C++"
cmake -S ../cpp -B "$out/cpp" -G Ninja -DCMAKE_BUILD_TYPE=Release >"$out/cpp-configure.log" 2>&1 || { cat "$out/cpp-configure.log" >&2; exit 1; }
cmake --build "$out/cpp" --target digits_classify
[[ " $* " == *" --gpu "* ]] && device=--gpu || device=
"$out/cpp/digits_classify" "$out/digits-symbol.json" "$out/digits-0000.params" "$out/digits-test.params" $device
echo "== 4. Exported variables"
"$python" variants.py
