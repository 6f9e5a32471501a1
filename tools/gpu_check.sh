#!/usr/bin/env bash
# GPU tests and figures on the machine at hand, within ten minutes. Without a GPU it says so and ends well.
#
#   tools/gpu_check.sh [--library build/cuda/libmxnet.so | --bundle FILE] [--only tests|bench|sanitizer]... [--out FOLDER] [--python PYTHON] [--torch PYTHON]
#                      [--limit SECONDS] [--pack] [--require]
#
# --library  a CUDA build made elsewhere (its folder's tests/ are run too when they are there); without it, build/cuda is used, or built here
# --bundle   what tools/gpu_bundle.sh packed: library, what it needs, test programs, Python package
# --only     some of the three parts (all of them share the ten minutes): the tests, the short benchmarks, compute-sanitizer; tests and
#            sanitizer run beside each other, the benchmarks behind them
# --torch    interpreter for PyTorch's side (default: PYTHON, when its torch has CUDA)
# --out      where the figures go (default build/gpu_check): summary.txt, and for each step its log, its figures as JSON
# --pack     leave only summary.txt and everything else as logs.tar.gz there
# --require  no GPU is a failure
# Each step has a limit of its own; what did not fit is said in summary.txt. The exit code is 1 when a step failed, or when Python parts had to be left out.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
library='' bundle='' out=$root/build/gpu_check python=${PYTHON:-python3} torch='' require=0 limit=570 pack=0 parts=()
while (($#)); do
  case $1 in
    --library) library=$(readlink -f "${2:?--library needs a file}"); shift ;;
    --bundle) bundle=$(readlink -f "${2:?--bundle needs a file}"); shift ;;
    --only)
      [[ ${2:-} =~ ^(tests|bench|sanitizer)$ ]] || { echo "gpu_check: --only ${2:-}; accepted: tests, bench, sanitizer" >&2; exit 2; }
      parts+=("$2"); shift ;;
    --out) out=${2:?--out needs a folder}; shift ;;
    --python) python=${2:?--python needs a program}; shift ;;
    --torch) torch=${2:?--torch needs a program}; shift ;;
    --limit) limit=${2:?--limit needs seconds}; shift ;;
    --pack) pack=1 ;;
    --require) require=1 ;;
    *) echo "gpu_check: unknown option $1; accepted: --library, --bundle, --only, --out, --python, --torch, --limit, --pack, --require" >&2; exit 2 ;;
  esac
  shift
done
[[ -z $library || -z $bundle ]] || { echo "gpu_check: --library and --bundle exclude each other" >&2; exit 2; }
if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
  echo "gpu_check: no GPU here; nothing was run"
  exit "$require"
fi
((${#parts[@]})) || parts=(tests bench sanitizer)
wants() { [[ " ${parts[*]} " == *" $1 "* ]]; }
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -f "$out"/*.log "$out"/*.json "$out"/*.jsonl "$out"/*.txt "$out/logs.tar.gz"
begin=$SECONDS part_end=$limit status=0 cores=$(nproc)
left() { echo $((part_end - (SECONDS - begin))); }   # of this part
note() { echo "$1" | tee -a "$out/summary.txt"; }
failed() { status=1; : >"$work/failed"; }   # also from a lane, which is a process of its own

# ---- the library, and the shared libraries that it needs
package=$root/python
if [[ -n $bundle ]]; then
  tar -xJf "$bundle" -C "$work" 2>/dev/null || "$python" -m tarfile -e "$bundle" "$work"   # no xz here: Python has its own
  library=$work/lib/libmxnet.so tests=$work/tests package=$work/python
  export LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
else
  if [[ -z $library ]]; then
    library=$root/build/cuda/libmxnet.so
    [[ -f $library ]] || (cd "$root" && ./dev build --preset cuda --tests) >"$out/build.log" 2>&1 || { tail -20 "$out/build.log"; exit 1; }
  fi
  [[ -f $library ]] || { echo "gpu_check: --library $library is not there" >&2; exit 2; }
  tests=$(dirname "$library")/tests
fi
{
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
  cat "$work/commit" 2>/dev/null || git -C "$root" rev-parse HEAD 2>/dev/null || true
} >"$out/summary.txt"
missing() { ldd "$library" | awk '/not found/ { print $1 }'; }
has_python() { "$python" -c "import $1" 2>/dev/null; }
if [[ -n $(missing) ]]; then   # NVIDIA's: those that PyTorch brought come first, so that both sides compute with the same
  places=$("$python" -c 'import glob, sys; print("\n".join(d for p in sys.path for d in sorted(glob.glob(p + "/nvidia/*/lib"))))' 2>/dev/null || true)
  for place in $places /usr/local/cuda*/lib64 /usr/local/cuda*/lib /usr/local/cuda*/targets/x86_64-linux/lib; do
    for name in $(missing); do
      if [[ -e $place/$name ]]; then
        export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$place
        note "using $place"
        break
      fi
    done
  done
  if [[ -n $(missing) ]]; then
    note "libraries that $library needs are not on this machine: $(missing | tr '\n' ' ')(accepted: CUDA 13 and cuDNN 9 in /usr/local/cuda or as Python packages; others through tools/gpu_bundle.sh)"
    exit 1
  fi
fi
export MXNET_LIBRARY_PATH=$library PYTHONPATH=$package${PYTHONPATH:+:$PYTHONPATH} MXNET_HOME=$work/home GPU_CHECK_REPORT=$out/operators.jsonl

# ---- what Python has
lacking=
for module in numpy pytest tqdm; do has_python "$module" || lacking="$lacking $module"; done
if ! command -v "$python" >/dev/null; then
  note "python: no $python here; Python tests and benchmarks are left out"
  lacking=" python"
elif [[ $lacking == *numpy* ]]; then
  note "python: $python has no numpy; Python tests and benchmarks are left out"
elif [[ -n $lacking ]]; then
  note "python: $python lacks$lacking; what needs that is left out (pytest: tests, tqdm: score and train)"
fi
[[ -z $lacking ]] || status=1
lacks() { [[ "$lacking " == *" $1 "* || "$lacking " == *" numpy "* || "$lacking " == *" python "* ]]; }
if ! lacks numpy && ! "$python" -c 'import mxnet as mx; mx.num_gpus() or exit("mx.num_gpus() is 0")' >"$out/import.log" 2>&1; then
  note "python: mxnet does not find the GPU (see import.log): $(tail -1 "$out/import.log")"
  status=1
fi
if [[ -z $torch ]] && ! lacks numpy && "$python" -c 'import torch; raise SystemExit(not torch.cuda.is_available())' 2>/dev/null; then torch=$python; fi

# ---- steps
step() {  # step NAME LIMIT COMMAND...: its output to NAME.log; the last line to the summary when it passes
  local name=$1 most=$2 rc=0 from=$SECONDS seconds
  shift 2
  seconds=$(left)
  if ((seconds < 10)); then note "$name: not run, no time left"; failed; return 0; fi
  seconds=$((seconds < most ? seconds : most))
  timeout -k 5 "$seconds" "$@" >"$out/$name.log" 2>&1 || rc=$?
  case $rc in
    0) note "$name: passed in $((SECONDS - from)) s${LAST:+: $(tail -1 "$out/$name.log")}" ;;
    124 | 137) note "$name: stopped after $seconds s, its limit (see $name.log)"; failed ;;
    *) note "$name: FAILED with $rc (see $name.log): $(grep -v '^[[:space:]]*$' "$out/$name.log" | tail -1 | cut -c1-300)"; failed ;;
  esac
}
part() {  # part NAME SECONDS: how long it may last when the benchmarks come behind it
  part_end=$limit
  [[ $1 == bench ]] || ! wants bench || part_end=$((limit * $2 / 570))
  note "---- $1"
}
bench() { local name=$1 most=$2; shift 2; step "$name" "$most" "$python" "$@"; }
# Markdown rows, eager's, and where a race was stopped the rows that it had by then
table() { grep -E '^\||^[a-z]+ [0-9a-z]+ .*[0-9]$' "$out/$1.log" >>"$out/summary.txt" 2>/dev/null || grep -E '^[A-Za-z0-9-]+, [0-9]+: ours ' "$out/$1.log" >>"$out/summary.txt" 2>/dev/null || true; }

lanes=()
lane() { "$@" & lanes+=($!); }   # lane FUNCTION: its steps, one after another, beside the other lanes
finish_lanes() { ((!${#lanes[@]})) || wait "${lanes[@]}"; lanes=(); [[ ! -e $work/failed ]] || status=1; }
t=$root/tests/python parallel=0
! has_python xdist || parallel=1
# tested NAME LIMIT PROCESSES ...: several processes, where pytest can: most of the time goes to compiling kernels and to the CPU's results
tested() {
  local name=$1 most=$2 many=() ; ((!parallel)) || many=(-n "$3")
  shift 3
  LAST=1 bench "$name" "$most" -m pytest -q "${many[@]}" --tb=short -p no:cacheprovider "$@"
}
cpp_lane() {  # what runs on a device first, then NVIDIA's libraries
  local name test
  for name in gpu_run gpu_libraries_cuda gpu_code_cuda user_module_cuda user_module storage engine ndarray gpu_kernels_cuda; do   # the last one: texts through NVRTC
    [[ ! -x $tests/${name}_test ]] || step "${name}_test" 120 "$tests/${name}_test"
  done
  for test in "$tests"/gpu_*_test; do   # on the emulator: they need a C++ compiler, and say the same on every machine
    name=$(basename "$test" _test)
    [[ ! -x $test || $name =~ ^gpu_(run|.*_cuda)$ || $(left) -lt 60 ]] || step "${name}_test" 60 "$test"
  done
}
operators_lane() {   # every operator against the CPU
  tested operators 420 $((cores * 3 / 4 + 1)) "$t/operators/test_gpu_operators.py"
  "$python" - "$out/operators.jsonl" >>"$out/summary.txt" 2>/dev/null <<'PY' || true
import collections, json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
for outcome, n in collections.Counter(r["outcome"] for r in rows).most_common():
    print(f"  {outcome}: {n} of {len(rows)} (operator, dtype)")
missing = sorted({r["op"] for r in rows if r["outcome"] == "no kernel"})
print(f"  operators without a GPU kernel ({len(missing)}): {' '.join(missing)}")
PY
}
others_lane() {   # everybody's tests, with the GPU in the place of the CPU
  local files
  mapfile -t files < <(grep -lE 'pytest\.mark\.on_gpu\b' "$t"/*/test_*.py)
  PYTHONPATH=$root/tests/host_gpu:$PYTHONPATH tested others 420 $((cores * 3 / 4 + 1)) -p default_gpu -m "on_gpu and not nightly and not several_threads" "${files[@]}"
}
runtime_lane() {   # users' kernels, CUDA graphs, memory shared with others, variables, sparse arrays, attention in one kernel; memory over 1,000 steps
  local each=$((cores / 4 + 1))
  tested runtime 240 "$each" -rs "$t/old_programs/test_rtc.py" "$t"/runtime/test_gpu_*.py
  tested sparse 120 "$each" "$t/sparse/test_sparse_gpu.py"
  tested attention 120 "$each" "$t/passes/test_interleaved_passes.py" "$t/passes/test_attention_dropout.py" -k "on_a_gpu or replayed"
  bench leak 90 "$root/benchmark/leak.py" --ctx gpu --steps 1000
  grep first "$out/leak.log" >>"$out/summary.txt" 2>/dev/null || true
}
cpp_sanitizer_lane() {
  local tool
  for tool in memcheck racecheck synccheck initcheck; do
    LAST=1 step "sanitizer_$tool" 150 "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 20 "$tests/gpu_run_test"
  done
}
python_sanitizer_lane() {
  LAST=1 step sanitizer_python 400 "$sanitizer" --tool memcheck --error-exitcode 9 --print-limit 20 --target-processes application-only \
    "$python" -m pytest -q "$t/operators/test_gpu_operators.py" -p no:cacheprovider -k "softmax or take or BatchNorm or Pooling or topk or sum"
}

# Nothing is timed in these parts, so that their steps may share the machine.
threads=${OMP_NUM_THREADS-}
if wants tests; then
  part tests 300
  lane cpp_lane
  if lacks pytest; then
    note "operators, runtime: not run, no pytest"
  else
    ((!parallel)) || export OMP_NUM_THREADS=1
    export GPU_CHECK_VARIABLES=$out/variables.txt
    lane operators_lane; lane others_lane; lane runtime_lane
  fi
fi
if wants sanitizer; then
  part sanitizer 300
  sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1 || true)
  if [[ -z $sanitizer ]]; then
    note "sanitizer: no compute-sanitizer here; nothing was watched"
  elif [[ ! -x $tests/gpu_run_test ]]; then
    note "sanitizer: no $tests/gpu_run_test; nothing was watched"
  else
    lane cpp_sanitizer_lane
    lacks pytest || lane python_sanitizer_lane
  fi
fi
finish_lanes
export OMP_NUM_THREADS=$threads
[[ -n $threads ]] || unset OMP_NUM_THREADS

if wants bench && lacks numpy; then
  note "---- bench: not run"
elif wants bench; then
  part bench 480
  peers=() ; [[ -z $torch ]] || peers=(--peers "$torch")
  note "PyTorch: ${torch:-none here whose torch.cuda.is_available(); its columns are left out}"
  [[ -z $torch ]] || "$torch" -c 'import triton' 2>/dev/null || note "triton: none here; what PyTorch compiles is left out"
  b=$root/benchmark cache=${TMPDIR:-/tmp}/gpu_check_networks
  race=(--ctx gpu "${peers[@]}" --rounds 2 --slice 0.3 --cache "$cache")
  # raced NAME LIMIT PROGRAM DTYPE MODEL BATCH CONTESTANTS: one table of score.py or train.py
  raced() {
    local name=$1 most=$2 program=$3
    bench "$name" "$most" "$b/$program.py" "${race[@]}" --dtype "$4" --models "$5" --batch "$6" --contestants "$7" --json "$out/$name.json"
    table "$name"
  }
  plain="ours,torch graph"   # eager PyTorch was never the faster one, and a contestant takes 10 to 20 s
  bench eager 40 "$b/eager.py" --ctx gpu ${torch:+--torch "$torch"} --rounds 3 --json "$out/eager.json"; table eager
  if lacks tqdm; then
    note "score, train: not run, no tqdm"
  else   # what stands in figures.md first
    for dtype in float32 tf32 bfloat16 float16; do raced "score_$dtype" 80 score "$dtype" resnet50 1,32,128 "$plain"; done
    for dtype in float32 tf32 bfloat16; do raced "train_$dtype" 60 train "$dtype" resnet50 128 "$plain"; done
    for dtype in float32 bfloat16; do raced "score_bert_$dtype" 60 score "$dtype" bert_base 1,32 "$plain"; done
    raced train_bert_bfloat16 60 train bfloat16 bert_base 32 "$plain"
  fi
  bench kernels 90 "$b/kernels.py" --ctx gpu "${peers[@]}" --no-check --rounds 3 --slice 0.02 --json "$out/kernels.json"; table kernels
  bench kernels_half 90 "$b/kernels.py" --ctx gpu "${peers[@]}" --no-check --dtype bfloat16 --rounds 3 --slice 0.02 --json "$out/kernels_half.json"; table kernels_half
  bench sparse 60 "$b/sparse.py" --ctx gpu ${torch:+--torch "$torch"} --rounds 3 --json "$out/sparse.json"; table sparse
  bench rnn 40 "$b/rnn.py" --ctx gpu ${torch:+--torch "$torch"} --rounds 3; table rnn
  if ! lacks tqdm; then
    bench v100 200 "$b/v100.py" --cache "$cache" --batch 1,8,32,128 --json "$out/v100.json"; table v100
    if [[ -n $torch ]]; then   # compilation takes its time
      raced score_compiled 150 score bfloat16 resnet50 1,128 "ours,torch compile,torch compile graph"
      raced train_compiled 120 train bfloat16 resnet50 128 "ours,torch compile"
    fi
  fi
fi

if ((pack)); then
  (cd "$out" && files=$(find . -type f ! -name summary.txt) && tar -czf "$work/logs.tar.gz" $files && rm -f $files)
  mv "$work/logs.tar.gz" "$out/"
fi
echo "---- summary"
cat "$out/summary.txt"
exit "$status"
