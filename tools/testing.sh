# What ./dev test and ./dev fuzz do; sourced by dev, whose functions and variables are used here.
# Which Python tests run on the host's GPU or under a sanitizer is said by marks in their files (pyproject.toml lists the marks).

# The files of tests/python with one of these marks, or those among the files given.
marked_files() {  # marked_files MARK[|MARK...] [file...]
  local marks=$1
  shift
  (($#)) || set -- tests/python/*/test_*.py
  grep -lE "pytest\.mark\.($marks)\b" "$@"
}

# pytest with the sanitizer's run-time loaded before the interpreter. Reports go to files: pytest keeps standard error to
# itself, and a test may expect its child process to fail. The preset builds no compiled binding, and freed memory stays in
# the sanitizer's quarantine: tests of either have the mark unsanitized. libgomp is not annotated: ThreadSanitizer gets one
# OpenMP thread, so no test that counts them (several_threads).
sanitized_pytest() {  # sanitized_pytest address|thread MARKS arguments...
  local kind=$1 marks=$2 runtime=libasan.so threads reports=$root/build/$preset/python-reports${MXNET_CPU_MEM_POOL_TYPE:+-unpooled} options status=0
  shift 2
  threads=$(nproc)
  marks+="${marks:+ and }not unsanitized"
  if [[ $kind == thread ]]; then
    runtime=libtsan.so threads=1
    marks+=' and not several_threads'
  fi
  rm -rf "$reports" && mkdir -p "$reports"
  options=log_path=$reports/report
  # The interpreter keeps memory until exit; what is not instrumented (NumPy, the interpreter) is not judged by ThreadSanitizer.
  # Forked children start threads, such as the one that tidies pools.
  LD_PRELOAD="$(g++ -print-file-name=$runtime) $(g++ -print-file-name=libstdc++.so.6)" \
  ASAN_OPTIONS=detect_leaks=0:strict_string_checks=1:$options UBSAN_OPTIONS=print_stacktrace=1:$options \
  TSAN_OPTIONS=second_deadlock_stack=1:die_after_fork=0:ignore_noninstrumented_modules=1:suppressions=$root/tests/tsan.supp:$options \
  OMP_NUM_THREADS=$threads OPENBLAS_NUM_THREADS=1 MXNET_ENABLE_CYTHON=0 PYTHONMALLOC=malloc \
    "$venv/bin/python" -m pytest -q -m "$marks" "$@" || status=$?
  if compgen -G "$reports/*" >/dev/null; then
    head -60 "$reports"/*
    echo "dev: the sanitizer reported the above; whole reports in ${reports#"$root"/}" >&2
    status=1
  fi
  return "$status"
}

# A CUDA build on libraries that stand in for NVIDIA's (tests/host_gpu/host_gpu.h): tests made for GPUs, then others with
# gpu(0) as everybody's context and gpu(1) for cpu(1), then those of several GPUs.
host_gpu_tests() {  # host_gpu_tests [--quick] [pytest arguments...]; without the latter, by marks
  local quick= status=0
  preset=cuda
  [[ ${1:-} == --quick ]] && shift && quick=gpu_quick
  build cuda mxnet host_gpu gpu_run_test
  use_tree
  local report=$root/build/cuda/host_gpu_report python=("$venv/bin/python" -m pytest -q)
  export HOST_GPU_REPORT=$report MXNET_HOME=$root/build/cuda/host_gpu_home
  rm -f "$report"
  preload() { LD_PRELOAD=$root/build/cuda/tests/host_gpu/libhost_gpu.so "$@"; }
  by_mark() {  # by_mark MARK pytest options...
    local mark=$1 files
    shift
    mapfile -t files < <(marked_files "$mark")
    [[ -n $quick ]] && mapfile -t files < <(marked_files "$quick" "${files[@]}")
    preload "${python[@]}" -m "$mark and not nightly${quick:+ and $quick}" "$@" "${files[@]}"
  }
  if (($#)); then
    preload "${python[@]}" -m 'not nightly' "$@" || status=$?
  else
    preload build/cuda/tests/gpu_run_test --gtest_brief=1 || status=$?
    by_mark gpu || status=$?
    PYTHONPATH=$root/tests/host_gpu:$PYTHONPATH HOST_GPU_DEVICES=2 by_mark on_gpu -p default_gpu || status=$?
    quick=
    HOST_GPU_DEVICES=4 HOST_GPU_LATE=100 by_mark several_gpus || status=$?
  fi
  if [[ -s $report ]]; then
    cat "$report" >&2
    echo "dev: rules of CUDA's interface were broken, see above" >&2
    status=1
  fi
  return "$status"
}

# What a night has the time for: operators and layers, with each array a block of its own, and the fuzzer.
night_of_address() {  # night_of_address MARKS
  local status=0 level
  (export MXNET_CPU_MEM_POOL_TYPE=Unpooled && sanitized_pytest address "$1" tests/python/{operators,mx_np,quantization,passes,gluon}) || status=1
  for level in 3 2; do
    (run_fuzz --preset asan --odd-sizes --level $level) || status=1
  done
  (run_fuzz --preset asan --minutes 30 --mutations 0.5 --seed "$RANDOM") || status=1
  return "$status"
}

# pytest on what was named, or on everything; 5 is its status when it chose nothing.
python_tests() {  # python_tests NIGHTLY(0, 1, only) SANITIZER EXPRESSION paths...
  local night=$1 marks= sanitize=$2 expression=$3 chosen=sanitized files status=0
  case $1 in 0) marks='not nightly' ;; only) marks=nightly ;; esac
  shift 3
  use_tree
  if [[ -n $sanitize ]]; then
    if [[ -z $expression && $# -eq 0 ]]; then
      [[ $sanitize == address && $night != 0 ]] && { night_of_address "$marks" || status=$?; }
      [[ $sanitize == address ]] && chosen+='|sanitized_address'  # counts bytes, which says nothing about threads
      mapfile -t files < <(marked_files "$chosen")
      set -- "${files[@]}"
      marks+="${marks:+ and }(${chosen/|/ or })"
    fi
    sanitized_pytest "$sanitize" "$marks" ${expression:+-k "$expression"} "${@:-tests/python}" || status=$?
    return "$status"
  fi
  "$venv/bin/python" -m pytest -q ${marks:+-m "$marks"} ${expression:+-k "$expression"} "${@:-tests/python}"
}

# On memory that ends at pages without access (tests/fuzz/guard_malloc.c): files of operators, or what was named.
guarded_tests() {  # guarded_tests NIGHTLY EXPRESSION paths...
  local folder=$root/build/$preset line
  while IFS= read -r line; do
    export "${line?}"
  done < <("$venv/bin/python" tests/fuzz/guard_library.py "$folder")
  [[ -n ${LD_PRELOAD:-} ]] || die "test --guard: tests/fuzz/guard_malloc.c does not compile"
  (($# > 2)) || set -- "$1" "$2" tests/python/{operators,mx_np,quantization,passes}
  python_tests "$1" "" "${@:2}"
}

# The library, the binding and the C++ programs that a run needs. Programs are known when CMake has looked for new files, so the
# library comes first.
build_tests() {  # build_tests all | none | REGEX
  local programs
  if [[ $1 == all ]]; then
    build "$preset" all test_programs
    return
  fi
  build "$preset" all python_test_programs
  [[ $1 == none ]] && return
  mapfile -t programs < <(ctest --test-dir "build/$preset" -N -R "$1" | sed -n 's/^ *Test *#[0-9]*: //p')
  if ((${#programs[@]})); then build "$preset" "${programs[@]}"; fi
}

run_tests() {
  local nightly=0 sanitize= guard= words=() paths=()
  while (($#)); do
    case $1 in
      --nightly) nightly=1 ;;
      --nightly=only) nightly=only ;;
      --sanitize=address) sanitize=address preset=asan ;;
      --sanitize=thread) sanitize=thread preset=tsan ;;
      --guard) guard=1 ;;
      --sanitize*) die "--sanitize takes address or thread, not '${1#--sanitize=}'" ;;
      --preset) preset=${2:?--preset needs a name}; shift ;;
      --host-gpu) shift; host_gpu_tests "$@"; return ;;
      -*) die "test: unknown option $1" ;;
      */*) paths+=("$1") ;;
      *) words+=("$1") ;;
    esac
    shift
  done
  local status=0 rc=0 ran=0 regex= expression= programs=none
  regex=$(IFS='|'; echo "${words[*]-}")
  if [[ -z $guard && $nightly != only ]] && ((${#words[@]} || !${#paths[@]})); then programs=${regex:-all}; fi
  build_tests "$programs"
  if [[ $programs != none && $(ctest --test-dir "build/$preset" -N ${regex:+-R "$regex"}) != *'Total Tests: 0'* ]]; then
    ran=1
    ctest --test-dir "build/$preset" --output-on-failure -j "$jobs" ${regex:+-R "$regex"} || status=$?
  fi
  ((${#words[@]})) && expression=$(printf ' or %s' "${words[@]}") && expression=${expression:4}
  if [[ -n $guard ]]; then
    (guarded_tests "$nightly" "$expression" "${paths[@]}") || rc=$?
  else
    python_tests "$nightly" "$sanitize" "$expression" "${paths[@]}" || rc=$?
  fi
  ((rc == 5)) || ran=1
  ((rc == 0 || rc == 5)) || status=$rc
  ((ran)) || { echo "dev: no test matches ${words[*]-} ${paths[*]-}" >&2; status=1; }
  return "$status"
}

# Under the address sanitizer its run-time comes first; only crashes and reports count there.
run_fuzz() {
  local arguments=() runtime= program=harness
  while (($#)); do
    case $1 in
      --preset) preset=${2:?--preset needs a name}; shift ;;
      --odd-sizes) program=odd_sizes ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  build "$preset"
  use_tree
  if [[ $preset == asan ]]; then
    runtime="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so.6)"
    export MXNET_ENABLE_CYTHON=0 MXNET_CPU_MEM_POOL_TYPE=Unpooled ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096
  fi
  ${runtime:+env LD_PRELOAD="$runtime"} "$venv/bin/python" tests/fuzz/$program.py "${arguments[@]}"
}
