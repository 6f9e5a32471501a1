"""Compiles guard_malloc.c and says what a process needs in its environment to run on its memory.

    guard_library.py FOLDER     compiles into FOLDER and prints NAME=VALUE lines (./dev test --guard)
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def environment(folder, front=False, made=True):
    """{name: value}. `front`: the page without access lies in front of each block. `made`: also
    what C++ makes with new."""
    compiler = os.environ.get("CC") or shutil.which("cc") or "gcc"
    library = os.path.join(folder, "libguard_malloc.so")
    subprocess.run([compiler, "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-fexceptions", "-shared", "-fPIC", "-o", library,
                    os.path.join(HERE, "guard_malloc.c"), "-ldl", "-Wl,--no-as-needed", "-l:libstdc++.so.6"], check=True)
    found = {"LD_PRELOAD": library, "MXNET_CPU_MEM_POOL_TYPE": "Unpooled"}
    return {**found, **({"GUARD_FRONT": "1"} if front else {}), **({"GUARD_NEW": "1"} if made else {})}


if __name__ == "__main__":
    for name, value in environment(sys.argv[1], front=bool(os.environ.get("GUARD_FRONT"))).items():
        print(f"{name}={value}")
