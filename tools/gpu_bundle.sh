#!/usr/bin/env bash
# What a GPU machine without network and package registry needs of a CUDA build made here, in one small file for tools/gpu_check.sh --bundle.
#
#   tools/gpu_bundle.sh [--build build/cuda] [--out build/gpu_bundle.tar.xz] [--tests REGEX] [--binding-for PYTHON]... [--kernels FOLDER] [--most MIB]
#
# Packed, without debug information: libmxnet.so, the shared libraries that it needs and a plain machine lacks (oneDNN, OpenBLAS, Fortran and OpenMP run-time), test
# programs (each holds the library once more, which packs well), the Python package with its compiled binding. Programs that run kernels on the emulator say the
# same on every machine and stay out; --tests '^gpu_.*_test$' packs them too, and --tests '' none.
# --binding-for  also compile the binding for this interpreter (its headers must be there), say the GPU machine's version of Python; without one ctypes is used there
# --kernels      cached kernels of runs on a GPU made of the host (its MXNET_HOME/rtc; build/cuda/host_gpu_home/rtc after ./dev test --host-gpu): compiled here for a Hopper GPU and
#                packed, so that the GPU's time is not spent on compiling; for machines with the same NVRTC
# --most         fail where the file is larger (default 56: what a lent machine takes, less the tree itself)
# NVIDIA's libraries stay out: they have to be on the machine, in a CUDA toolkit or in the Python packages that PyTorch brings.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/cuda out=$root/build/gpu_bundle.tar.xz tests='^(gpu_run|gpu_.*_cuda|user_module.*|storage|engine|ndarray)_test$' most=56 interpreters=() kernels=''
while (($#)); do
  case $1 in
    --build) build=$(readlink -f "${2:?--build needs a folder}"); shift ;;
    --out) out=$(readlink -f "${2:?--out needs a file}"); shift ;;
    --tests) tests=${2?--tests needs a regular expression}; shift ;;
    --binding-for) interpreters+=("${2:?--binding-for needs a program}"); shift ;;
    --kernels) kernels=$(readlink -f "${2:?--kernels needs a folder}"); shift ;;
    --most) most=${2:?--most needs a number}; shift ;;
    *) echo "gpu_bundle: unknown option $1; accepted: --build, --out, --tests, --binding-for, --kernels, --most" >&2; exit 2 ;;
  esac
  shift
done
library=$build/libmxnet.so
[[ -f $library && (-z $tests || -x $build/tests/gpu_run_test) ]] || { echo "gpu_bundle: no $library with its test programs; make them with ./dev build --preset cuda --tests" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lib" "$work/tests" "$(dirname "$out")"

# Shared libraries: all but the C library's, the compiler's and NVIDIA's
cp "$library" "$work/lib/"
while read -r name path; do
  case $name in
    libc.so* | libm.so* | libpthread.so* | libdl.so* | librt.so* | ld-linux* | libstdc++.so* | libgcc_s.so*) ;;
    libcu* | libnv* | libnccl*) echo "expected on the machine: $name" ;;
    *) cp -L "$path" "$work/lib/$name" ;;
  esac
done < <(ldd "$library" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }')
if ldd "$library" | grep 'not found'; then echo "gpu_bundle: libraries above are missing here" >&2; exit 1; fi

for test in "$build"/tests/*; do
  [[ -n $tests && -f $test && -x $test && $(basename "$test") =~ $tests ]] && cp "$test" "$work/tests/"
done
find "$work/lib" "$work/tests" -type f -exec chmod u+w {} + -exec strip --strip-unneeded {} +

# The package, and a binding for every interpreter asked for
cp -r "$root/python" "$root/include" "$work/"   # the version stands in a header
find "$work/python" -name __pycache__ -prune -exec rm -rf {} +
venv=${DEV_VENV:-$root/.venv}
if ((${#interpreters[@]})) && [[ ! -x $venv/bin/python ]]; then
  echo "gpu_bundle: no $venv/bin/python, which has pybind11; make it with ./dev setup, or name another in DEV_VENV" >&2
  exit 1
fi
for python in "${interpreters[@]}"; do
  pybind=$("$venv/bin/python" -m pybind11 --includes | tr ' ' '\n' | grep pybind11)
  suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
  header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
  cmake "-DFOLDER=$root/python/src" "-DOUT=$build/bundle_sources.cc" -P "$root/cmake/binding_sources.cmake"   # what the binding was made from
  for module in "$root"/python/src/*_module.cc; do
    common=("$build/bundle_sources.cc")
    for file in "$root"/python/src/*.cc; do [[ $file == *_module.cc ]] || common+=("$file"); done
    g++ -std=c++17 -O2 -shared -fPIC -fvisibility=hidden $pybind "-I$header" "-I$root/include" "-I$root/python/src" "$module" "${common[@]}" -L"$work/lib" -lmxnet -Wl,--allow-shlib-undefined \
      -o "$work/python/mxnet/_cy3/$(basename "${module%_module.cc}")$suffix"
  done
done
find "$work/python" -name '*.so' -exec strip --strip-unneeded {} +
# The package must import with nothing of this tree: an undefined symbol would show on the other machine alone. Interpreters may lack NumPy, which it needs.
for python in "${interpreters[@]}"; do
  try='import mxnet as mx; assert mx.nd.ones(2).asnumpy().sum() == 2'
  "$python" -c 'import numpy' 2>/dev/null || try='import ctypes, glob, os, sysconfig
ctypes.CDLL(os.environ["MXNET_LIBRARY_PATH"], ctypes.RTLD_GLOBAL)
for module in glob.glob("python/mxnet/_cy3/*" + sysconfig.get_config_var("EXT_SUFFIX")): ctypes.CDLL(module, os.RTLD_NOW)'
  (cd "$work" && env -u MXNET_HOME -u LD_PRELOAD MXNET_LIBRARY_PATH="$work/lib/libmxnet.so" MXNET_ENFORCE_CYTHON=1 PYTHONPATH="$work/python" PYTHONDONTWRITEBYTECODE=1 \
    LD_LIBRARY_PATH="$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$python" -W error -c "$try") || { echo "gpu_bundle: $python does not import what was packed" >&2; exit 1; }
done

if [[ -n $kernels ]]; then
  [[ -x $build/tests/host_gpu/precompile_kernels ]] || cmake --build "$build" --target precompile_kernels >/dev/null
  mkdir -p "$build/precompiled" "$work/home"   # kept from bundle to bundle
  "$build/tests/host_gpu/precompile_kernels" "$kernels" "$build/precompiled"
  cp -r "$build/precompiled" "$work/home/rtc"
fi

git -C "$root" rev-parse HEAD >"$work/commit" 2>/dev/null || true
tar -C "$work" --sort=name -cf - . | xz -6 --lzma2=preset=6,dict=128MiB -T1 >"$out.part"
mv "$out.part" "$out"
(cd "$work" && find . -type f -size +1M -printf '%s %P\n' | sort -rn | awk '{ printf "%7.1f MiB  %s\n", $1 / 1048576, $2 }')
size=$(stat -c %s "$out")
echo "$out: $((size / 1048576)) MiB"
if ((size > most * 1048576)); then
  echo "gpu_bundle: more than $most MiB; take fewer test programs (--tests) of those above" >&2
  exit 1
fi
