"""Files that are made to do harm, or damaged: an error with the place, never a crash, and memory in
proportion to the file."""
import io
import resource
import struct
import zipfile
import zlib

import numpy as np
import pytest
from pieces import archive, dictionary, legacy, number, numbers, storage, tensor, text

import mxnet as mx
from mxnet.contrib import torch


def read(data):
    return torch.load(io.BytesIO(data))


def refused(data, what):
    with pytest.raises(OSError, match=what) as raised:
        read(data)
    assert isinstance(raised.value, mx.MXNetError)
    assert len(str(raised.value)) < 2000
    return str(raised.value)


def test_the_pieces_make_a_file():
    values = np.arange(6, dtype="f")
    for data in (archive(dictionary(w=tensor()), [("0", values.tobytes())]),
                 archive(dictionary(w=tensor()), [("0", values.tobytes())], None, zipfile.ZIP_DEFLATED, ""),
                 legacy(dictionary(w=tensor(of=storage(more=b"N"))), ["0"], [(6, values.tobytes())])):
        np.testing.assert_array_equal(read(data)["w"].asnumpy(), values.reshape(2, 3))


@pytest.mark.parametrize("options, what", [
    ({"shape": (2, 4)}, r"shape \(2, 4\), strides \(3, 1\) and offset 0 in storage '0', which has 6 elements.* at \['w'\]"),
    ({"offset": 1}, "offset 1 in storage"),
    ({"offset": 2 ** 61}, "offset 2305843009213693952 in storage"),
    ({"offset": -1}, "offset or stride -1; accepted: whole numbers from 0"),
    ({"strides": (-3, 1)}, "offset or stride -3"),
    ({"strides": (2 ** 61, 1)}, "which has 6 elements"),
    ({"strides": (2 ** 400, 1)}, "offset or stride"),
    ({"strides": (1,)}, "2 dimensions with strides a tuple"),
    ({"shape": (-2, 3)}, "dimension -2; accepted: whole numbers from 0"),
    ({"shape": (2 ** 49, 1)}, r"dimension 562949953421312; accepted: up to 2\*\*48"),
    ({"shape": (2 ** 40, 2 ** 40), "strides": (0, 0)}, r"1.21e\+24 elements; accepted"),
    ({"shape": (1,) * 40, "strides": (1,) * 40}, "40 dimensions; accepted: up to 32"),
    ({"shape": (2 ** 32, 3), "strides": (0, 1)}, "unfold to more than 16 times the file"),
    ({"shape": (0,), "strides": (1,), "offset": 7}, "which has 6 elements"),
    ({"of": storage(kind="IntStorage", count=7)}, "storage '0' is to hold 7 elements of 4 bytes, 24 bytes are there"),
    ({"of": storage(count=2 ** 62)}, "storage '0' of 4611686018427387904 elements"),
    ({"of": storage(count=-1)}, "storage '0' of -1 elements"),
    ({"of": storage(key="../../etc/passwd")}, "storage '../../etc/passwd' is not in the archive"),
    ({"of": text("storage")}, "a tensor whose storage is a str"),
    ({"of": b"(" + text("module") + b"tQ"}, "that is no storage"),
    ({"of": b"N"}, "a tensor whose storage is a NoneType"),
    ({"more": b"}" + text("moved") + b"\x88s"}, "values are to be changed \\('moved'\\)"),
    ({"more": b"}" + text("neg") + b"K\x02s"}, "values are to be changed \\('neg'\\)")])
def test_tensors_that_are_not_there(options, what):
    refused(archive(dictionary(w=tensor(**options))), what)


def test_an_empty_tensor_has_any_strides():
    assert read(archive(dictionary(w=tensor((0, 3), (2 ** 50, 9)))))["w"].shape == (0, 3)


@pytest.mark.parametrize("pickle, what", [
    (b"", "ends within a value of 1 bytes"),
    (b"\x80\x02", "ends within a value"),
    (b"\x80\x02.", "ends with 0 values"),
    (b"\x80\x02NN.", "ends with 2 values"),
    (b"\x80\x02(N.", "1 open lists"),
    (b"\x80\x02t.", "a list is closed that was not opened"),
    (b"\x80\x02h\x07.", "value 7 was not remembered"),
    (b"\x80\x02q\x01.", "no value to remember"),
    (b"\x80\x02r\xff\xff\xff\xff.", "no value to remember"),
    (b"\x80\x02}N\x8cs.", "ends within a value|dictionary"),
    (b"\x80\x02}]Ns.", "a list as a key"),
    (b"\x80\x02})\x85\x85Ns.", "a tuple as a key"),
    (b"\x80\x02](Nu.", "list stands where dict is needed"),
    (b"\x80\x02}(Nu.", "a key without a value"),
    (b"\x80\x02NR.", "taken from an empty list|no function"),
    (b"\x80\x02N)R.", "a call of None, which is no function"),
    (b"\x80\x02ctorch\nfloat32\n)R.", "torch.float32>, which is no function"),
    (b"\x80\x02ctorch\nSize\nNR.", "is called with a NoneType"),
    (b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.", "missing 4 required positional arguments"),
    (b"\x80\x02X\xff\xff\xff\xffabc.", "value of 4294967295 bytes"),
    (b"\x80\x02\x8e\xff\xff\xff\xff\xff\xff\xff\xff.", "value of 18446744073709551615 bytes"),
    (b"\x80\x02\x8b\xff\xff\xff\x7f.", "an integer of 2147483647 bytes"),
    (b"\x80\x02X\x02\x00\x00\x00\xff\xff.", "UnicodeDecodeError|decode"),
    (b"\x80\x02I" + b"9" * 5000 + b"\n.", "a line without end within 512 bytes"),
    (b"\x80\x02Ix\n.", "invalid literal"),
    (b"\x80\x02\x82\x01.", "instruction b'.x82' is not accepted"),
    (b"\x80\x02ios\nsystem\n.", "instruction b'i' is not accepted"),
    (b"\x80\x02P1\n.", "instruction b'P' is not accepted"),
    (b"\x80\x02N}b.", "NoneType stands where"),
    (b"\x80\x05\x8c\x02os\x8c\x06system\x93.", r"names 'os.system'"),
    (b"\x80\x05\x8c\x02osN\x93.", "a name that is no text"),
    (b"\x80\x02cbuiltins\neval\n" + text("1") + b"\x85R.", "names 'builtins.eval'"),
    (b"\x80\x02cbuiltins\ngetattr\n.", "names 'builtins.getattr'"),
    (b"\x80\x02ctorch\nload\n.", "names 'torch.load'"),
    (b"\x80\x02cnumpy\ndtype\n" + text("O") + b"\x85R.", "a NumPy dtype 'O'; accepted: those of numbers"),
    (b"\x80\x02cnumpy\ndtype\n" + text("f8,f") + b"\x85R.", "a NumPy dtype 'f8,f'"),
    (b"\x80\x02cnumpy._core.multiarray\nscalar\ncnumpy\ndtype\n" + text("f8") + b"\x85RU\x03abc\x86R.", "of the wrong size"),
    (b"\x80\x02cnumpy._core.multiarray\nscalar\ncnumpy\ndtype\n" + text("U1") + b"\x85RC\x04\xff\xff\xff\x7f\x86R.",
     "numbers that are no characters"),
    (b"\x80\x02cnumpy\ndtype\n" + text("U1") + b"\x85R(K\x03" + text(">") + b"NNNK\x04K\x04K\x08tb.", "from a big-endian machine"),
    (b"\x80\x02cbuiltins\ncomplex\n" + text("1") + b"\x85R.", "a complex number of something else"),
    (b"\x80\x02cbuiltins\nrange\nG" + bytes(8) + b"\x85R.", "a range of something else"),
    (b"\x80\x02c_codecs\nencode\n" + text("a") + text("rot13") + b"\x86R.", "bytes in the encoding 'rot13'")])
def test_pickles_that_are_none(pickle, what):
    message = refused(archive(pickle), what)
    assert "No code was run" in message and "of the pickle" in message


def test_deep_nesting_and_values_that_hold_themselves():
    deep = 200_000
    found = read(archive(b"\x80\x02" + b"]" * deep + b"a" * (deep - 1) + b".", (), method=zipfile.ZIP_DEFLATED))
    for _ in range(deep - 1):
        found, = found
    assert found == []
    loop = read(archive(b"\x80\x02]q\x01h\x01a."))
    assert loop[0] is loop
    wrapped = b"ctorch._tensor\n_rebuild_from_type_v2\n"
    nested = b")"
    for _ in range(3000):
        nested = b"(" + wrapped + b"ctorch\nTensor\n" + nested + b"t"
    refused(archive(b"\x80\x02" + wrapped + nested + b"R.", method=zipfile.ZIP_DEFLATED), "RecursionError")


def test_lists_that_are_used_again_and_again():
    many = b"(" + b"N" * 1000 + b"l"
    refused(archive(b"\x80\x02" + many + b"q\x01" + b"0cbuiltins\nlist\nh\x01\x85R" * 3000 + b".", method=zipfile.ZIP_DEFLATED),
            "more values than the file is long")
    doubled = b"\x80\x02]" + b"q\x010h\x01h\x01\x86" * 60 + b"."      # 2**60 values, were it spelled out
    assert len(read(archive(doubled))) == 2
    refused(archive(doubled[:-1] + b"q\x020}h\x02Ns."), "a tuple as a key")
    refused(archive(b"\x80\x02" + doubled[2:-1] + b"Q."), "that is no storage")
    refused(archive(b"\x80\x02" + doubled[2:-1] + b")R."), "a call of a tuple")


def test_memory_stays_in_proportion_to_the_file():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    zeros = bytes(300 << 20)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a/data.pkl", dictionary(w=tensor(of=storage(count=75 << 20))))
        out.writestr("a/data/0", zeros)
    del zeros
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(bomb.getvalue(), "unfold to more than 16 times the file")
    many = b"".join(text(str(i)) + tensor((1000, 1000 + i), (0, 0)) for i in range(2000))
    refused(archive(b"\x80\x02}(" + many + b"u."), "unfold to more than 16 times the file")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - max(before, grown) < 200 << 10


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_lie():
    whole = archive(dictionary(w=tensor()))
    with zipfile.ZipFile(io.BytesIO(whole)) as opened:
        infos = {info.filename: info for info in opened.infolist()}
    listed = whole.index(b"PK\x01\x02")
    for cut in (10, 60, len(whole) // 2, len(whole) - 1):
        refused(whole[:cut], "no whole zip archive|no file of torch.save")

    def changed(entry, at, data):
        place = whole.index(entry, listed) - 46 + at
        return whole[:place] + data + whole[place + len(data):]
    huge = struct.pack("<II", 2 ** 31, 2 ** 31)
    refused(changed(b"a/data/0", 20, huge), "not inside of the file")
    refused(changed(b"a/data/0", 20, struct.pack("<II", 24, 4000)), "has 24 bytes, and is to have 4000")
    refused(changed(b"a/data/0", 42, struct.pack("<I", infos["a/data.pkl"].header_offset)), "overlap")
    refused(changed(b"a/data/0", 42, struct.pack("<I", 5)), "is not at byte|no whole zip archive")
    refused(changed(b"a/data/0", 42, struct.pack("<I", 2 ** 31)), "is not at byte|no whole zip archive")
    refused(changed(b"a/data/0", 8, struct.pack("<H", 1)), "is encrypted")
    refused(changed(b"a/data/0", 10, struct.pack("<H", 14)), "compressed by method 14")
    refused(changed(b"a/data/0", 10, struct.pack("<H", 8)), "Error -3|unfolds to other")
    refused(archive(dictionary(), (("0", b"x"), ("0", b"y"))), "two entries 'a/data/0'")
    refused(archive(dictionary(w=tensor()), ()), "storage '0' is not in the archive")
    refused(archive(dictionary(w=tensor()), byteorder=b"big"), "big-endian machine")
    two = io.BytesIO(whole)
    with zipfile.ZipFile(two, "a") as out:
        out.writestr("b/data.pkl", dictionary())
    refused(two.getvalue(), "2 entries data.pkl")
    text_archive = io.BytesIO()
    with zipfile.ZipFile(text_archive, "w") as out:
        out.writestr("readme.txt", "x")
    refused(text_archive.getvalue(), "it is a zip archive: unpack it")


def test_a_deflated_entry_of_another_length():
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("a/data.pkl", dictionary(w=tensor()))
        out.writestr("a/data/0", bytes(24))
    data = held.getvalue()
    place = data.index(b"a/data/0", data.index(b"PK\x01\x02")) - 46
    for size in (23, 25):
        refused(data[:place + 24] + struct.pack("<I", size) + data[place + 28:], "unfolds to other than|is to hold 6 elements")
    assert zlib.crc32(bytes(24)) == struct.unpack("<I", data[place + 16:place + 20])[0]


def test_files_of_before_1_6_that_lie():
    value, whole = dictionary(w=tensor(of=storage(more=b"N"))), bytes(24)
    refused(legacy(value, ["0"], [(7, bytes(28))]), "the file ends or says 7")
    refused(legacy(value, ["0"], [(6, bytes(23))]), "the file ends")
    refused(legacy(value, ["1"], [(6, whole)]), "storage '1', which no tensor uses")
    refused(legacy(value, [], []), "storage '0' is not in the file")
    refused(legacy(dictionary(w=tensor(of=storage(count=2 ** 50, more=b"N"))), ["0"], [(2 ** 50, whole)]), "the file ends")
    refused(legacy(value, ["0"], [(6, whole)], b"\x80\x02}X\r\x00\x00\x00little_endian\x89s."), "big-endian")
    refused(legacy(value, ["0"], [(6, whole)], b"\x80\x02]."), "another head")
    two = dictionary(v=tensor(of=storage(more=b"N")), w=tensor(of=storage(count=5, more=b"N")))
    refused(legacy(two, ["0"], [(6, whole)]), "two sizes or types")
    part = b"(" + text("0") + number(2) + number(4) + b"t"
    found = read(legacy(dictionary(w=tensor((2, 2), (2, 1), of=storage(more=part))), ["0"], [(6, np.arange(6, dtype="f").tobytes())]))
    assert found["w"].asnumpy().tolist() == [[2, 3], [4, 5]]
    outside = b"(" + text("0") + number(4) + number(4) + b"t"
    refused(legacy(dictionary(w=tensor((2, 2), (2, 1), of=storage(more=outside))), ["0"], [(6, whole)]), "not inside of it")
    refused(legacy(dictionary(w=tensor(of=storage(more=numbers((1, 2))))), ["0"], [(6, whole)]), "without offset and size")


@pytest.mark.parametrize("form", ["zip", "legacy"])
def test_damaged_files(form):
    """Of many changes of one byte each, none ends otherwise than with values or an error."""
    random = np.random.RandomState(5)
    value = dictionary(w=tensor(of=storage(more=b"N" if form == "legacy" else b"")), n=number(7))
    whole = archive(value) if form == "zip" else legacy(value, ["0"], [(6, bytes(24))])
    errors = 0
    for _ in range(1500):
        data = bytearray(whole)
        for _ in range(random.randint(1, 4)):
            data[random.randint(len(data))] = random.randint(256)
        try:
            found = read(bytes(data))
            for array in found.values() if isinstance(found, dict) else []:
                array.asnumpy() if isinstance(array, mx.nd.NDArray) else None
        except OSError:
            errors += 1
    assert 300 < errors < 1500
