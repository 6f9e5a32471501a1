"""What a file is, told by its first bytes, and which function reads it.

Readers ask here when a file is not theirs, so that a `.pt` given to ``mx.nd.load`` is an error that
names both and not a guess about damage.
"""
import codecs
import os
import zipfile

from ..base import MXNetError, error_class, open_file

__all__ = ["HEAD", "TORCH_MAGIC", "kind_of", "kind_of_file", "refuse", "refuse_other", "refuse_prefix"]

HEAD = 512      # bytes that `kind_of` wants to see

# The number with which a file of torch.save before 1.6 begins, as a pickle of any protocol has it.
TORCH_MAGIC = b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."

_TORCH = "mx.contrib.torch.load(path) reads its arrays, mx.contrib.torch.load_into(block, path) gives them to a block"
_SYMBOL = "mx.sym.load(path) reads it, gluon.SymbolBlock.imports(path, input_names, parameter_file) makes a block of it"
_UNPACK = "unpack it first"
_PICTURE = "mx.image.imread(path) reads it"

# kind: (what it is in words, what to do with it)
WORDS = {
    "empty": ("an empty file", "whatever wrote it was interrupted, or did not begin; write or download it again"),
    "params": ("a file of MXNet arrays (.params)", "mx.nd.load(path) or net.load_parameters(path) reads it"),
    "npy": ("a NumPy array (.npy)", "mx.nd.load(path) or mx.npx.load(path) reads it"),
    "npz": ("a NumPy archive (.npz)", "mx.nd.load(path) or mx.npx.load(path) reads it"),
    "torch": ("a PyTorch file (.pt, .pth or .bin)", _TORCH),
    "torch_legacy": ("a PyTorch file of the form before version 1.6 (.pt, .pth or .bin)", _TORCH),
    "torchscript": ("a TorchScript archive, which holds a program",
                    "save the weights where PyTorch runs: torch.save(torch.jit.load(path).state_dict(), 'weights.pt'), "
                    "then mx.contrib.torch.load('weights.pt')"),
    "torch_export": ("a program of torch.export (.pt2)",
                     "save the weights where PyTorch runs: torch.save(torch.export.load(path).state_dict, 'weights.pt'), "
                     "then mx.contrib.torch.load('weights.pt')"),
    "safetensors": ("a safetensors file", "mx.contrib.safetensors.load(path) reads its arrays, "
                                          "mx.contrib.torch.load_into(block, path) gives them to a block"),
    "onnx": ("an ONNX model", "mx.onnx.load(path) reads it"),
    "symbol": ("an MXNet network (-symbol.json)", _SYMBOL),
    "shards": ("an index of several files of weights",
               "mx.contrib.safetensors.load(path) or mx.contrib.torch.load(path) reads the files beside it, "
               "mx.contrib.torch.load_into(block, path) gives their arrays to a block"),
    "json": ("a JSON text", "files of weights and networks have other forms; look for the file beside it that it describes"),
    "hdf5": ("an HDF5 file (.h5), as Keras writes", "read it with the package h5py, and give {name: array} to net.load_dict"),
    "keras": ("a Keras archive (.keras)", "read it with Keras, and give {name: array} to net.load_dict"),
    "pickle": ("a pickle of Python, which can run code when it is read",
               "if it holds optimizer states, Trainer.load_states(path) or Module.load_optimizer_states(path) reads it; "
               "load pickles of people whom you trust alone"),
    "gguf": ("a GGUF file of llama.cpp", "take the model's safetensors files, which mx.contrib.safetensors.load(path) reads"),
    "tflite": ("a TensorFlow Lite model", "convert it to ONNX where TensorFlow runs (package tf2onnx), then mx.onnx.load(path)"),
    "record": ("a RecordIO file (.rec)", "mx.recordio.MXRecordIO(path, 'r') reads it"),
    "lfs": ("a pointer of git-lfs, not the file itself", "fetch the file with `git lfs pull`"),
    "html": ("a page of HTML: most likely a download that failed",
             "open the address in a browser to see what the page says, and download again"),
    "xml": ("an XML text", "if it is OpenVINO's, take the ONNX model that it was made of: mx.onnx.load(path)"),
    "gzip": ("compressed by gzip (a .gz or .tar.gz)", _UNPACK + ": gunzip, or tar -xf"),
    "bzip2": ("compressed by bzip2", _UNPACK + ": bunzip2, or tar -xf"),
    "xz": ("compressed by xz", _UNPACK + ": unxz, or tar -xf"),
    "zstd": ("compressed by zstd", _UNPACK + ": unzstd"),
    "7z": ("a 7z archive", _UNPACK + ": 7z x"),
    "tar": ("a tar archive", _UNPACK + ": tar -xf"),
    "zip": ("a zip archive", _UNPACK + ": unzip"),
    "png": ("a PNG picture", _PICTURE),
    "jpeg": ("a JPEG picture", _PICTURE),
    "gif": ("a GIF picture", "convert it to PNG"),
    "pdf": ("a PDF document", "it holds no arrays"),
    "elf": ("a program or library (ELF)", "mx.library.load(path) loads a library of operators"),
    "text": ("a text", "files of weights and networks have other forms"),
}

_BEGINNINGS = ((b"\x12\x01\0\0\0\0\0\0", "params"), (b"\x93NUMPY", "npy"), (b"\x89HDF\r\n\x1a\n", "hdf5"), (b"GGUF", "gguf"),
               (b"version https://git-lfs.github.com/", "lfs"), (b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"),
               (b"\x28\xb5\x2f\xfd", "zstd"), (b"7z\xbc\xaf\x27\x1c", "7z"), (b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"),
               (b"GIF8", "gif"), (b"%PDF-", "pdf"), (b"\x7fELF", "elf"), (b"\x0a\x23\xd7\xce", "record"))
_SPACE = b" \t\r\n"
_TORCH_SUFFIXES = (".pt", ".pth", ".bin", ".ckpt")
# Tags of a ModelProto's fields that may come behind its first one, the IR version.
_ONNX_SECOND = frozenset(b"\x12\x1a\x22\x28\x32\x3a\x42\x72")


def _of_text(head):
    text = head.lstrip(b"\xef\xbb\xbf").lstrip(_SPACE)
    low = text[:64].lower()
    if low.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return "html"
    if low.startswith(b"<?xml"):
        return "html" if b"<html" in text.lower() else "xml"
    if low[:1] in (b"{", b"["):
        return "symbol" if b'"nodes"' in text else "shards" if b'"weight_map"' in text else "json"
    if not text or any(c < 9 or 13 < c < 32 and c != 27 for c in head):
        return None
    try:
        return "text" if codecs.getincrementaldecoder("utf-8")().decode(head) else None     # it may end within a letter
    except UnicodeDecodeError:
        return None


def kind_of(head, size=None):
    """The kind of a file, a key of `WORDS`, from its first `HEAD` bytes and, where it is known, its
    size in bytes; None for what has no sign. For a zip archive it is ``"zip"``: `kind_of_file` can
    tell more."""
    if not head.strip(b"\0") and (not head or size is None or size <= len(head)):
        return "empty" if not head else None
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return "zip"
    for sign, kind in _BEGINNINGS:
        if head.startswith(sign):
            return kind
    length = int.from_bytes(head[:8], "little")
    if len(head) > 8 and head[8:9] == b"{" and 2 <= length < 1 << 40 and (head[9:10] in b'"}' or head[9:10] in _SPACE):
        return "safetensors"
    if head[:1] == b"\x80" and head[1:2] in (b"\2", b"\3", b"\4", b"\5") and len(head) > 2:
        return "torch_legacy" if TORCH_MAGIC in head[:32] else "pickle"
    if head[:1] == b"\x08" and len(head) > 2 and 1 <= head[1] <= 32 and head[2] in _ONNX_SECOND:
        return "onnx"
    if head[4:8] == b"TFL3":
        return "tflite"
    if head[257:262] == b"ustar":
        return "tar"
    return _of_text(head)


def _of_zip(names):
    """The kind of a zip archive with entries of these names."""
    last = {name.rpartition("/")[2] for name in names}
    folders = {part for name in names for part in name.split("/")[:-1]}
    if "constants.pkl" in last or "code" in folders and "data.pkl" in last:
        return "torchscript"
    if "data.pkl" in last:
        return "torch"
    if "archive_format" in last or "serialized_exported_program.json" in last:
        return "torch_export"
    if "model.weights.h5" in last or {"config.json", "metadata.json"} <= last:
        return "keras"
    if not names or any(name.endswith(".npy") for name in names):
        return "npz"
    return "zip"


def kind_of_file(path):
    """The kind of the file `path`, a key of `WORDS`, or None. A zip archive that is damaged is what
    its name says, ``"npz"`` if that says nothing.

    Raises
    ------
    OSError
        if there is no such file, or it cannot be read.
    """
    with open_file(path, "rb") as file:
        head = file.read(HEAD)
        size = file.seek(0, os.SEEK_END) if file.seekable() else None
        kind = kind_of(head, size)
        if kind != "zip":
            return kind
        try:
            with zipfile.ZipFile(file) as archive:
                return _of_zip([info.filename for info in archive.infolist()])
        except Exception:   # of a damaged one; what zipfile raises has no common class
            return "torch" if os.fsdecode(path).lower().endswith(_TORCH_SUFFIXES) else "npz"


def refuse(function, path, kind, accepted, error=OSError):
    """An error to raise: `path` is of `kind`, and `function` takes what `accepted` says."""
    what, instead = WORDS[kind]
    return error_class(MXNetError, error)(f"[{function}] {os.fspath(path)!r} is {what}: {instead}; accepted here: {accepted}")


def refuse_other(function, path, own, accepted, error=OSError):
    """The kind of the file `path` if it is in `own`, or None for one without a sign; an error is
    raised for other kinds."""
    kind = kind_of_file(path)
    if kind is not None and kind not in own:
        raise refuse(function, path, kind, accepted, error)
    return kind


def refuse_prefix(function, prefix, accepted):
    """Raises if `prefix`, with which the names of several files are to begin, is a file itself."""
    if os.path.isfile(prefix):
        kind = kind_of_file(prefix)
        what, instead = WORDS[kind] if kind else ("a file", "leave out what follows the prefix in its name")
        raise error_class(MXNetError, FileNotFoundError)(
            f"[{function}] {os.fspath(prefix)!r} is {what}: {instead}; accepted here: {accepted}")
