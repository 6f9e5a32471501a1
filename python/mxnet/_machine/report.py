"""What a machine has and what is missing on it, told without the native library: the part of
``python -m mxnet.doctor`` that also runs where the library cannot be loaded.
"""
import argparse
import ctypes
import json
import os
import platform
import re
import sys

from .. import libinfo
from .._startup.packages import REQUIREMENTS

# Where a library comes from that the loader misses, by how its name begins. PyPI's packages are in
# _packages.
_SOURCES = {"libopenblas": "apt install libopenblas0, or dnf install openblas",
            "liblapacke": "apt install liblapacke",
            "libgomp": "apt install libgomp1, or dnf install libgomp",
            "libcuda.so": "the driver of NVIDIA", "libcudart": "CUDA 13 of NVIDIA",
            "libcublas": "CUDA 13 of NVIDIA", "libnvrtc": "CUDA 13 of NVIDIA",
            "libnvJitLink": "CUDA 13 of NVIDIA", "libcudnn": "cuDNN 9 of NVIDIA",
            "libopencv": "apt install libopencv-imgcodecs406",
            "libjpeg": "apt install libjpeg62-turbo", "libturbojpeg": "apt install libturbojpeg0"}
_LEVELS = (("x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
           ("x86-64-v3", {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "abm"}),
           ("x86-64-v2", {"sse4_2", "ssse3", "popcnt"}))


def advice(message):
    """How to get what a message of the loader misses; empty where nothing is known."""
    if "GLIBC_" in message or "GLIBCXX_" in message:
        return "the wheel, which needs glibc 2.28, a newer distribution, or ./dev build on this one"
    packages = [f"pip install {needed}" for name, needed in REQUIREMENTS.items() if name in message]
    others = [source for name, source in _SOURCES.items() if re.search(rf"\b{name}", message)]
    return ", or ".join([*packages, *others][:2])


def _read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def quota(groups=None, root="/sys/fs/cgroup"):
    """Processors that the control groups of this process grant it; None without a limit. `groups`
    is the text of /proc/self/cgroup."""
    least = None
    for line in (_read("/proc/self/cgroup") if groups is None else groups).splitlines():
        _, controllers, path = line.split(":", 2) if line.count(":") > 1 else ("", "none", "")
        if controllers and "cpu" not in controllers.split(","):
            continue
        path = path.rstrip("/")
        while True:
            if controllers:
                base = f"{root}/{controllers}{path}/cpu.cfs_"
                numbers = [_read(base + "quota_us"), _read(base + "period_us")]
            else:
                numbers = _read(f"{root}{path}/cpu.max").split()
            try:
                limit = float(numbers[0]) / float(numbers[1])
                if limit > 0:
                    least = limit if least is None else min(least, limit)
            except (ValueError, IndexError, ZeroDivisionError):
                pass            # "max", or no such file
            if not path:
                break
            path = path.rpartition("/")[0]
    return least


def _model(info, machine):
    """The processor's name in /proc/cpuinfo. On Arm that has numbers alone; under qemu it is the
    host's."""
    name = re.search(r"^model name\s*: (.*)$", info, re.M)
    if machine not in ("aarch64", "arm64"):
        return name.group(1) if name else platform.processor()
    numbers = [re.search(rf"^CPU {what}\s*: (\S+)$", info, re.M) for what in ("implementer", "part")]
    if all(numbers):
        return "implementer {}, part {}".format(*(found.group(1) for found in numbers))
    return f"emulated on {name.group(1)}" if name else platform.processor()


def _level(info, machine):
    """The highest level of x86-64 whose instructions it has; on others their name, also under qemu,
    where the flags are the host's."""
    flags = re.search(r"^flags\s*: (.*)$", info, re.M) if machine == "x86_64" else None
    flags = set(flags.group(1).split()) if flags else set()
    return next((name for name, needed in _LEVELS if needed <= flags), machine)


def _processor():
    info, machine = _read("/proc/cpuinfo"), platform.machine()
    return {"model": _model(info, machine), "level": _level(info, machine), "processors": os.cpu_count(),
            "usable": len(os.sched_getaffinity(0)), "quota": quota()}


def _loaded():
    """Paths of the libraries of this process."""
    paths = ("/" + line.partition("/")[2] for line in _read("/proc/self/maps").splitlines())
    return [*dict.fromkeys(path for path in paths if ".so" in path)]


class _DnnlVersion(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int), ("hash", ctypes.c_char_p)]


def _dnnl(lib):
    lib.dnnl_version.restype = ctypes.POINTER(_DnnlVersion)
    found = lib.dnnl_version().contents
    return f"{found.major}.{found.minor}.{found.patch}"


def _openblas(lib):
    lib.openblas_get_config.restype = ctypes.c_char_p
    return lib.openblas_get_config().decode().split("OpenBLAS ")[-1].strip()


def _scipy_openblas(lib):
    lib.scipy_openblas_get_config.restype = ctypes.c_char_p
    return lib.scipy_openblas_get_config().decode().split("OpenBLAS ")[-1].strip()


def _number(function):
    def version(lib):
        value = ctypes.c_int()
        getattr(lib, function)(ctypes.byref(value))
        return str(value.value)
    return version


def _cudnn(lib):
    lib.cudnnGetVersion.restype = ctypes.c_size_t
    return str(lib.cudnnGetVersion())


_VERSIONS = {"libdnnl.": _dnnl, "libopenblas": _openblas,
             "libscipy_openblas.": _scipy_openblas, "libgomp.": None, "libcudart.": _number("cudaRuntimeGetVersion"),
             "libcublas.": None, "libcudnn.": _cudnn, "libnvrtc.": None, "libnccl.": _number("ncclGetVersion"),
             "libstdc++.": None, "libc.": None}


# oneDNN's numbers of instruction sets (dnnl_cpu_isa_t), by name.
_DNNL_ISA = {0x1: "SSE4.1", 0x3: "AVX", 0x7: "AVX2", 0xf: "AVX2 VNNI", 0x1f: "AVX2 VNNI 2", 0x27: "AVX-512", 0x67: "AVX-512 VNNI",
             0xe7: "AVX-512 BF16", 0x1ef: "AVX-512 FP16", 0xfef: "AMX", 0x1fef: "AMX FP16"}
_INSTRUCTIONS = {"AVX2": "avx2", "AVX2 VNNI": "avx_vnni", "AVX-512": "avx512bw", "AVX-512 VNNI": "avx512_vnni",
                 "AVX-512 BF16": "avx512_bf16", "AVX-512 FP16": "avx512_fp16", "AMX": "amx_tile"}


def _ask(name, function, result):
    """What a function without arguments of a loaded library says; None where there is none."""
    path = next((path for path in _loaded() if os.path.basename(path).startswith(name)), None)
    try:
        call = getattr(ctypes.CDLL(path), function) if path else None
    except (OSError, AttributeError):
        return None
    if call is None:
        return None
    call.restype = result
    return call()


def instructions(levels, environ=os.environ):
    """What the processor has, what each part uses of it, and why that is less. `levels` is what the
    library says of itself (MXGetCpuLevels)."""
    info = re.search(r"^flags\s*: (.*)$", _read("/proc/cpuinfo"), re.M) if platform.machine() == "x86_64" else None
    flags = set(info.group(1).split()) if info else set()
    found = {"processor": [name for name, flag in _INSTRUCTIONS.items() if flag in flags] or [levels["has"]],
             "library": levels["uses"] + (" AMX" if levels["amx"] else " BF16" if levels["bfloat16"] else "")}
    isa, core = _ask("libdnnl.", "dnnl_get_effective_cpu_isa", ctypes.c_int), _ask("libopenblas", "openblas_get_corename", ctypes.c_char_p)
    if isa is not None:
        found["oneDNN"] = _DNNL_ISA.get(isa, f"set {isa:#x}")
    if core:
        found["OpenBLAS"] = core.decode()
    why = []
    variable = next((name for name in ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA") if environ.get(name)), None)
    if variable and levels["limited"]:
        why.append(f"{variable}={environ[variable]}")
    if levels["has"] not in levels["built"]:
        why.append(f"this build has kernels for {', '.join(levels['built'])} alone")
    if environ.get("OPENBLAS_CORETYPE") and core:
        why.append(f"OPENBLAS_CORETYPE={environ['OPENBLAS_CORETYPE']}")
    if why:
        found["less because of"] = why
    return found


def libraries():
    """Path and version of what the library is linked with."""
    rows, loaded = [], _loaded()
    for name, version in _VERSIONS.items():
        path = next((path for path in loaded if os.path.basename(path).startswith(name)), None)
        if path is None:
            continue
        found = None
        try:
            found = version and version(ctypes.CDLL(path))
        except (OSError, AttributeError):
            pass
        if not found:
            found = re.search(r"(\d+(\.\d+)+)|(?<=\.so\.)(\d+)", os.path.basename(os.path.realpath(path)))
            found = platform.libc_ver()[1] if name == "libc." else found.group() if found else ""
        rows.append({"name": name.rstrip("."), "version": found, "path": path})
    return rows


def _gpus():
    """Driver and GPUs, asked of the driver; an empty dict without one."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return {}
    number, count = ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(number))
    version = re.search(r"(\d+\.\d+(\.\d+)?)", _read("/sys/module/nvidia/version") or _read("/proc/driver/nvidia/version"))
    found = {"driver": version.group(1) if version else "", "newest CUDA": f"{number.value // 1000}.{number.value % 1000 // 10}",
             "devices": []}
    if cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0:
        for index in range(count.value):
            text = ctypes.create_string_buffer(100)
            cuda.cuDeviceGetName(text, 100, index)
            found["devices"].append(text.value.decode())
    return found


def codecs(folder, missing):
    """Libraries of image decoders beside the library, and whether they can be opened."""
    found = {}
    for name in ("jpeg", "opencv"):
        path = os.path.join(folder, f"libmxnet_{name}.so")
        if not os.path.exists(path):
            missing.append({"what": f"libmxnet_{name}.so: pictures are not decoded by it", "needed": False,
                            "get": "./dev setup, then ./dev build" if name == "jpeg" else
                            "pip install opencv-python-headless and cv2.imdecode, or ./dev setup, then ./dev build"})
            continue
        try:
            ctypes.CDLL(path)
            found[name] = path
        except OSError as error:
            missing.append({"what": f"{path} cannot be opened: {error}", "needed": False, "get": advice(str(error))})
    return found


def report(failure=None, ask=None):
    """What ``--json`` prints, as a dict. `failure` is why the library could not be loaded; without
    one, ``ask(found, missing)`` adds what the library says.

    Returns
    -------
    dict
        Versions, processor, threads, GPUs, libraries, and under "missing" a list of dicts: `what`,
        whether it is `needed`, and how to `get` it.
    """
    found, missing = {}, []
    found["mxnet"] = {"version": libinfo.__version__, "path": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
    numpy = sys.modules.get("numpy")
    found["python"] = {"version": platform.python_version(), "path": sys.executable, "numpy": getattr(numpy, "__version__", "")}
    found["system"] = " ".join((platform.system(), platform.release(), platform.machine(), *platform.libc_ver()))
    found["processor"] = _processor()
    found["gpus"] = _gpus()
    if failure is None:
        ask(found, missing)
    else:
        get = "one of these values, or none" if failure.startswith("[environment]") else "./dev build, or pip install of a wheel"
        missing.append({"what": failure, "needed": True, "get": advice(failure) or get})
    found["missing"] = missing
    return found


def _value(value):
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(entry)}" for key, entry in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else f"{value:g}" if isinstance(value, float) else str(value)


def _text(found):
    lines = []
    for key, value in found.items():
        if key == "libraries":
            lines += ["libraries:"] + [f"  {row['name']:12} {row['version']:10} {row['path']}" for row in value]
        elif key == "missing":
            lines.append("missing:" if value else "missing: nothing")
            for row in value:
                lines.append(f"  {'needed  ' if row['needed'] else 'optional'} {row['what']}")
                if row["get"]:
                    lines.append(f"           from: {row['get']}")
        else:
            lines.append(f"{key}: {_value(value)}")
    return "\n".join(lines)


def main(arguments, failure=None, ask=None):
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m mxnet.doctor",
                                     description="Shows what this installation is made of and what is missing.")
    parser.add_argument("--json", action="store_true", help="the same as one JSON object")
    args = parser.parse_args(arguments)
    found = report(failure, ask)
    print(json.dumps(found, indent=1) if args.json else _text(found))
    return int(any(row["needed"] for row in found["missing"]))

