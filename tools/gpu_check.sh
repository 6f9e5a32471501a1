#!/usr/bin/env bash
# GPU tests and figures on the machine at hand, within ten minutes. Without a GPU it says so and ends well.
#
#   tools/gpu_check.sh [--library build/cuda/libmxnet.so] [--out FOLDER] [--python PYTHON] [--require]
#
# --library  a CUDA build made elsewhere (its folder's tests/ are run too when they are there); without it, build/cuda is built here
# --out      where the figures go (default build/gpu_check): summary.txt, operators.jsonl, bandwidth.json, logs
# --require  no GPU is a failure
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
library= out=$root/build/gpu_check python=${PYTHON:-python3} require=0
while (($#)); do
  case $1 in
    --library) library=$(readlink -f "${2:?--library needs a file}"); shift ;;
    --out) out=${2:?--out needs a folder}; shift ;;
    --python) python=${2:?--python needs a program}; shift ;;
    --require) require=1 ;;
    *) echo "gpu_check: unknown option $1" >&2; exit 2 ;;
  esac
  shift
done
if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
  echo "gpu_check: no GPU here; nothing was run"
  exit "$require"
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
deadline=$((SECONDS + 570))
left() { local s=$((deadline - SECONDS)); echo $((s > 5 ? s : 5)); }
if [[ -z $library ]]; then
  (cd "$root" && ./dev build --preset cuda) >"$out/build.log" 2>&1 || { tail -20 "$out/build.log"; exit 1; }
  library=$root/build/cuda/libmxnet.so
fi
export MXNET_LIBRARY_PATH=$library PYTHONPATH=$root/python${PYTHONPATH:+:$PYTHONPATH} MXNET_HOME=$out/home GPU_CHECK_REPORT=$out/operators.jsonl
rm -f "$out/operators.jsonl" "$out/summary.txt"
{
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
  git -C "$root" rev-parse --short HEAD 2>/dev/null || true
} >"$out/summary.txt"
status=0
note() { echo "$1" | tee -a "$out/summary.txt"; }

# C++: what touches a device, and the texts of the kernels
for test in "$(dirname "$library")"/tests/*; do
  name=$(basename "$test")
  [[ -x $test && -f $test && $name =~ ^(storage|engine|ndarray|user_module|user_module_cuda|device_[a-z_]*)_test$ ]] || continue
  if timeout "$(left)" "$test" >"$out/$name.log" 2>&1; then note "$name: passed"; else note "$name: FAILED (see $name.log)"; status=1; fi
done

# Python: every operator against the CPU
timeout "$(($(left) > 420 ? 420 : $(left)))" "$python" -m pytest -q -x --maxfail=1000 "$root/tests/python/test_gpu_operators.py" -p no:cacheprovider >"$out/operators.log" 2>&1 || status=1
note "operators: $(tail -1 "$out/operators.log")"
"$python" - "$out/operators.jsonl" >>"$out/summary.txt" <<'PY' || true
import collections, json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
for outcome, n in collections.Counter(r["outcome"] for r in rows).most_common():
    print(f"  {outcome}: {n} of {len(rows)} (operator, dtype)")
missing = sorted({r["op"] for r in rows if r["outcome"] == "no kernel"})
print(f"  operators without a GPU kernel ({len(missing)}): {' '.join(missing)}")
PY

# Python: users' kernels, CUDA graphs, memory shared with others
timeout "$(left)" "$python" -m pytest -q "$root/tests/python/test_rtc.py" "$root/tests/python/test_gpu_runtime.py" -p no:cacheprovider >"$out/runtime.log" 2>&1 || status=1
note "runtime: $(tail -1 "$out/runtime.log")"

# Memory over 1,000 training steps, in the process and on the device
timeout "$(left)" "$python" "$root/benchmark/leak.py" --ctx gpu --steps 1000 >"$out/leak.log" 2>&1 || { note "leak: FAILED (see leak.log)"; status=1; }
grep first "$out/leak.log" >>"$out/summary.txt" || true

# Figures: bandwidth of generated kernels against a device copy of the same bytes
timeout "$(left)" "$python" "$root/benchmark/kernels.py" --ctx gpu --no-check --rounds 3 --json "$out/bandwidth.json" >"$out/bandwidth.log" 2>&1 || { note "bandwidth: FAILED (see bandwidth.log)"; status=1; }
cat "$out/bandwidth.log" >>"$out/summary.txt"
cat "$out/summary.txt"
exit "$status"
