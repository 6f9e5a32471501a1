"""Loads the wheel's library where Python is too old for the package, and computes with it: that the
C library is new enough. The wheels that it depends on lie beside it, or are fetched."""
import ctypes
import glob
import os
import re
import subprocess
import sys
import zipfile

folder = os.path.abspath("unpacked")
with zipfile.ZipFile(sys.argv[1]) as archive:
    archive.extractall(os.path.join(folder, "site"))
    info = next(name for name in archive.namelist() if name.endswith("/METADATA"))
    needed = re.findall(r"^Requires-Dist: ((?:onednn|scipy)[^;\n]*)", archive.read(info).decode(), re.M)
for requirement in needed:
    name = re.match(r"[\w-]+", requirement).group().replace("-", "_")
    if not glob.glob(name + "*.whl"):
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", requirement], check=True)
    with zipfile.ZipFile(glob.glob(name + "*.whl")[0]) as archive:
        archive.extractall(os.path.join(folder, "site"))

site = os.path.join(folder, "site")
for library in glob.glob(site + "/mxnet/lib/lib*.so.1") + glob.glob(site + "/*.data/data/lib/libdnnl.so.3"):
    ctypes.CDLL(library)
lib = ctypes.CDLL(os.path.join(site, "mxnet", "lib", "libmxnet.so"))
version, handle, shape = ctypes.c_int(), ctypes.c_void_p(), (ctypes.c_uint * 1)(3)
assert lib.MXGetVersion(ctypes.byref(version)) == 0
assert lib.MXNDArrayCreate(shape, 1, 1, 0, 0, ctypes.byref(handle)) == 0
values = (ctypes.c_float * 3)(1, 4, 9)
assert lib.MXNDArraySyncCopyFromCPU(handle, values, ctypes.c_size_t(3)) == 0
operator, outputs, count = ctypes.c_void_p(), ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_int()
assert lib.NNGetOpHandle(b"sqrt", ctypes.byref(operator)) == 0
assert lib.MXImperativeInvoke(operator, 1, ctypes.byref(handle), ctypes.byref(count), ctypes.byref(outputs), 0, None, None) == 0
result = (ctypes.c_float * 3)()
assert lib.MXNDArraySyncCopyToCPU(ctypes.c_void_p(outputs[0]), result, ctypes.c_size_t(3)) == 0
assert list(result) == [1, 2, 3], list(result)
print("libmxnet.so", version.value, "computes sqrt:", list(result))
