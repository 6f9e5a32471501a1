#!/usr/bin/env bash
# Does what a new user does, in a root of a Debian or Ubuntu release that has Python and pip and
# nothing else, and prints the time of each step.
#   tools/wheel/clean_root.sh SUITE WHEEL [FOLDER]
# SUITE: bookworm, trixie, sid, or of Ubuntu: jammy, noble; FOLDER: where the root is made, or lies
# already. PYTHON=python3.14 takes another Python of the release than its usual one. ARCH=arm64
# makes a root of another architecture, which runs under qemu (QEMU_CPU=neoverse-n1 names a
# processor): binfmt_misc must know it, and OMP_NUM_THREADS=1 spares the waiting of threads for each
# other. Needs root, mmdebstrap (with arch-test for ARCH), and a network.
# Where Python is older than 3.11 (bullseye), it loads libmxnet.so and calls it through ctypes.
set -euo pipefail
(($# >= 2)) || { sed -n '2,11s/^# *//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
suite=$1 wheel=$(realpath "$2") arch=${ARCH:-} folder=${3:-build/roots/$1${ARCH:+-$ARCH}} python=${PYTHON:-python3}

# The keys that Ubuntu signs its archive with, as a file; Debian does not know them.
ubuntu_keys() {
  local deb=ubuntu-keyring_2023.11.28.1_all.deb
  deb=$(PYTHONPATH=$here python3 -c "import sysroot; print(sysroot.fetch('$1/pool/main/u/ubuntu-keyring/$deb', \
    '36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8', 'build/roots'))")
  dpkg-deb -x "$deb" build/roots/ubuntu-keyring
  echo "$PWD/build/roots/ubuntu-keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg"
}

if [[ ! -x $folder/usr/bin/$python ]]; then
  mkdir -p "$(dirname "$folder")"
  how=(--variant=apt)      # packages of another architecture are unpacked, and their scripts not run: minutes under qemu
  [[ -z $arch ]] || how=(--variant=extract --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --architectures="$arch")
  mirror=
  case $suite in focal|jammy|noble|plucky|questing)
    mirror=http://archive.ubuntu.com/ubuntu
    how+=(--components=main,universe --keyring="$(ubuntu_keys "$mirror")") ;;
  esac
  mmdebstrap --quiet "${how[@]}" --aptopt='Acquire::Check-Valid-Until "false"' \
    --include="bash,coreutils,grep,libc-bin,libstdc++6,$python,$python-venv,python3-pip,ca-certificates" "$suite" "$folder" $mirror
fi
rm -rf "$folder/try" && mkdir -p "$folder/try"
cp "$wheel" "$here"/{new_user,load_only,same_numbers}.py "$folder/try"
cp /etc/resolv.conf "$folder/etc/resolv.conf"
cp -L /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/ca-certificates.crt"
mount -t proc proc "$folder/proc"
trap 'umount "$folder/proc"' EXIT
inside() {
  chroot "$folder" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root PIP_CERT="${PIP_CERT:-}" ${QEMU_CPU:+QEMU_CPU="$QEMU_CPU"} \
    ${OMP_NUM_THREADS:+OMP_NUM_THREADS="$OMP_NUM_THREADS"} \
    bash -euc "cd /try; $1"
}

inside 'for library in libgomp.so.1 libopenblas.so.0 libjpeg.so.62; do
  if ldconfig -p | grep -q "$library"; then echo "the root is not clean: $library" >&2; exit 1; fi
done
. /etc/os-release; echo "$PRETTY_NAME, $(ldd --version | head -1 | grep -oE "[0-9.]+$"), $('$python' --version)"'
if inside "$python"' -c "import sys; sys.exit(sys.version_info < (3, 11))"'; then
  inside 'start=$(date +%s.%N)
    '$python' -m venv v; v/bin/python -m pip install -q --disable-pip-version-check ./*.whl
    printf "%-44s %6.1f s\n" "a virtual environment, and pip install" "$(v/bin/python -c "import time; print(time.time() - $start)")"
    v/bin/python new_user.py; v/bin/python -m mxnet.doctor; v/bin/python same_numbers.py write numbers.npz'
  echo "numbers to compare with those of another machine: $folder/try/numbers.npz"
else
  inside "$python load_only.py ./*.whl"
fi
