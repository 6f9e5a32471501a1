"""Makes a folder to link with instead of this machine's C library: the names that glibc 2.28's
libraries offer, from the PyPI package ziglang, and Debian 11's libgcc and libgomp.

What is linked with ``--sysroot`` of it runs on every distribution since glibc 2.28, of 2018.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import urllib.request

GLIBC = "2.28"
GCC = "10.2.1"      # of libgomp and libgcc_s
ZIG = "0.17.1"
# The libraries of a compiler older than ours, so that they need no newer glibc than the wheel.
_POOL = "http://deb.debian.org/debian/pool/main/g/gcc-10/"
_PACKAGES = {
    "x86_64": {"libgcc-s1_10.2.1-6_amd64.deb": "e478f2709d8474165bb664de42e16950c391f30eaa55bc9b3573281d83a29daf",
               "libgomp1_10.2.1-6_amd64.deb": "4530c95aefa48e33fd8cf4acbe5c4b559dbe7bdf4c56469986c83a203982cef1"},
    "aarch64": {"libgcc-s1_10.2.1-6_arm64.deb": "e2fcdb378d3c1ad1bcb64d4fb6b37aab44011152beca12a4944f435a2582df1f",
                "libgomp1_10.2.1-6_arm64.deb": "813af2e0b8ba0a7cea18c988cd843412ef6d0415700fc860d62816750e741670"},
}
_PROBE = "#include <math.h>\n#include <pthread.h>\nint main(void) { return (int)pow(2, 3); }\n"


def compiler(arch):
    """The commands of GCC for C and for C++: this machine's own, or the cross compiler's."""
    prefix = "" if os.uname().machine == arch else f"{arch}-linux-gnu-"
    return prefix + "gcc", prefix + "g++"


def fetch(url, sha256, folder):
    """Path of the file of `url` in `folder`, fetched unless it is there; SystemExit when its
    checksum is another."""
    path = os.path.join(folder, url.rpartition("/")[2])
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        with urllib.request.urlopen(url, timeout=120) as source, open(path + ".part", "wb") as target:
            shutil.copyfileobj(source, target)
        os.replace(path + ".part", path)
    with open(path, "rb") as file:
        found = hashlib.sha256(file.read()).hexdigest()
    if found != sha256:
        raise SystemExit(f"[wheel] {path} has the SHA-256 {found}; accepted: {sha256}")
    return path


def _answer(command, *arguments):
    return subprocess.run([command, *arguments], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.strip()


def _stubs(zig, arch, out, scratch):
    """Zig writes libraries that have glibc's names and versions, and no code, when it links."""
    probe = os.path.join(scratch, "probe.c")
    with open(probe, "w", encoding="utf-8") as file:
        file.write(_PROBE)
    caches = {"ZIG_GLOBAL_CACHE_DIR": scratch, "ZIG_LOCAL_CACHE_DIR": scratch}
    subprocess.run([os.path.join(zig, "zig"), "cc", "-target", f"{arch}-linux-gnu.{GLIBC}", probe, "-lpthread", "-lm", "-ldl", "-lrt",
                    "-o", os.path.join(scratch, "probe")], check=True, env={**os.environ, **caches})
    wanted = re.compile(r"(lib[a-z]+\.so\.\d|libc_nonshared\.a|crt1\.o|Scrt1\.o)$")
    for folder, _, names in os.walk(os.path.join(scratch, "o")):
        for name in filter(wanted.match, names):
            shutil.copy(os.path.join(folder, name), os.path.join(out, name))
    loader = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}[arch]
    os.replace(os.path.join(out, "libld.so.2"), os.path.join(out, loader))
    with open(os.path.join(out, "libc.so"), "w", encoding="utf-8") as file:
        # Threads and loading were libraries of their own, which a later compiler does not name.
        file.write(f"GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( {loader} libpthread.so.0 libdl.so.2 librt.so.1 ) )\n")
    for name in sorted(os.listdir(out)):
        stem = re.match(r"(lib(?!c\.)[a-z]+\.so)\.\d$", name)
        if stem:
            os.symlink(name, os.path.join(out, stem.group(1)))
    if not os.path.exists(os.path.join(out, "Scrt1.o")):
        os.symlink("crt1.o", os.path.join(out, "Scrt1.o"))
    gcc = compiler(arch)[0]
    for name in ("crti.o", "crtn.o"):   # they call nothing that a version tells apart
        shutil.copy(_answer(gcc, f"-print-file-name={name}"), os.path.join(out, name))


def _newer_functions(arch, part):
    """Adds what the compiler's own library needs of a newer glibc."""
    gcc = compiler(arch)[0]
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "newer_glibc.c")
    target = os.path.join(part, "scratch", "newer_glibc.o")
    subprocess.run([gcc, "-O2", "-fPIC", "-c", source, "-o", target], check=True)
    subprocess.run([gcc.replace("gcc", "ar"), "rD", os.path.join(part, "usr", "lib", "libc_nonshared.a"), target], check=True,
                   stderr=subprocess.DEVNULL)


def _gcc_libraries(arch, out, cache):
    scratch = os.path.join(cache, "gcc-" + arch)
    for name, sha256 in _PACKAGES[arch].items():
        subprocess.run(["dpkg-deb", "-x", fetch(_POOL + name, sha256, cache), scratch], check=True)
    for folder, _, names in os.walk(scratch):
        for name in names:
            if re.match(r"lib(gcc_s|gomp)\.so\.1$", name):
                shutil.copy(os.path.join(folder, name), os.path.join(out, name))
    os.symlink("libgomp.so.1", os.path.join(out, "libgomp.so"))


def _state():
    digest = hashlib.sha256()
    for name in ("sysroot.py", "newer_glibc.c"):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def make(arch, zig, out, cache):
    """Writes the tree to `out` unless these files made the one that is there."""
    stamp, now = os.path.join(out, "made-by"), _state()
    if os.path.exists(stamp) and open(stamp, encoding="utf-8").read() == now:
        return
    shutil.rmtree(out, ignore_errors=True)
    part = os.path.abspath(out) + ".part"
    shutil.rmtree(part, ignore_errors=True)
    lib, scratch = os.path.join(part, "usr", "lib"), os.path.join(part, "scratch")
    os.makedirs(lib)
    os.makedirs(scratch)
    _stubs(zig, arch, lib, scratch)
    _gcc_libraries(arch, lib, cache)
    _newer_functions(arch, part)
    os.symlink("usr/lib", os.path.join(part, "lib"))
    shutil.rmtree(scratch)
    with open(os.path.join(part, "made-by"), "w", encoding="utf-8") as file:
        file.write(now)
    os.replace(part, out)


if __name__ == "__main__":
    make(*sys.argv[1:])
