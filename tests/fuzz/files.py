"""Damaged files and their readers."""
import ctypes
import io
import os
import pickle
import zipfile

import numpy as np

import mxnet as mx
from mxnet import recordio
from mxnet.base import _LIB, check_call
import onnx_files


def damage(random, data, tokens=()):
    """1 to 5 changes of `data`: bits, bytes, numbers, pieces of text, cuts and repeats."""
    data = bytearray(data)
    for _ in range(random.randint(1, 6)):
        at = random.randint(len(data) + 1)
        what = random.randint(7)
        if what == 0 and at < len(data):
            data[at] ^= 1 << random.randint(8)
        elif what == 1 and at < len(data):
            data[at] = random.randint(256)
        elif what == 2:
            width = [1, 2, 4, 8][random.randint(4)]
            number = [0, 1, 2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1, 0x80000000, 64][random.randint(8)] & (256**width - 1)
            data[at:at + width] = number.to_bytes(width, "little")
        elif what == 3:
            del data[at:]
        elif what == 4:
            end = random.randint(at, len(data) + 1)
            data[at:at] = data[at:end] * random.randint(1, 4)
        elif what == 5:
            del data[at:at + random.randint(1, 9)]
        elif tokens:
            token = tokens[random.randint(len(tokens))]
            data[at:at + (len(token) if random.randint(2) else 0)] = token
    return bytes(data)


def _write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def _arrays():
    return {"arg:w": mx.nd.ones((2, 3)), "aux:m": mx.nd.zeros((4,), dtype="int32"), "arg:b": mx.nd.ones((1,), dtype="float16")}


def params(random, path):
    mx.nd.save(path, _arrays())
    with open(path, "rb") as f:
        data = f.read()
    _write(path, damage(random, data))
    loaded = mx.nd.load(path) if random.randint(2) else mx.nd.load_frombuffer(damage(random, data))
    for x in loaded.values() if isinstance(loaded, dict) else loaded:
        x.asnumpy()


def npz(random, path):
    data = io.BytesIO()
    np.savez(data, w=np.ones((2, 3), "f"), n=np.arange(4))
    _write(path, damage(random, data.getvalue()))
    load = getattr(getattr(mx, "npx", None), "load", None) or mx.nd.load
    loaded = load(path)
    for x in loaded.values() if isinstance(loaded, dict) else loaded:
        x.asnumpy()


_PICKLED = [b"R", b".", b"Q", b"(", b"t", b"ctorch\nSize\n", b"q\x01", b"h\x01", b"}", b"]", b"\x8a\x08" + b"\xff" * 7 + b"\x7f",
            b"cos\nsystem\n", b"PK\x03\x04", b"PK\x01\x02"]
_HEADER = [b"0", b"-1", b"99999999999999999999", b"[", b"{", b'"F32"', b'"BF16"', b'"shape"', b"null", b"1e9", b"\xff"]


def torch_file(random, path):
    """Damaged files of torch.save: of the inside of an archive, and of the archive."""
    values = {"w": mx.nd.ones((2, 3)), "n": [1, 2.5, None, (True, "x")],
              "b": mx.nd.ones(4, dtype="bfloat16"), "m": mx.nd.ones(3, dtype="bool")}
    mx.contrib.torch.save(path, values)
    if random.randint(2):
        with zipfile.ZipFile(path) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        chosen = sorted(entries)[random.randint(len(entries))] if random.randint(3) == 0 else "archive/data.pkl"
        entries[chosen] = damage(random, entries[chosen], _PICKLED)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if random.randint(2) else zipfile.ZIP_STORED) as archive:
            for name, data in entries.items():
                archive.writestr(name, data)
    else:
        with open(path, "rb") as f:
            data = f.read()
        _write(path, damage(random, data, _PICKLED))
    loaded = mx.contrib.torch.load(path, mmap=bool(random.randint(2)))
    for x in loaded.values() if isinstance(loaded, dict) else []:
        if isinstance(x, mx.nd.NDArray):
            x.asnumpy()


def safetensors(random, path):
    mx.contrib.safetensors.save(path, {**_arrays(), "h": mx.nd.ones(4, dtype="bfloat16")}, {"format": "pt"})
    with open(path, "rb") as f:
        data = f.read()
    _write(path, damage(random, data, _HEADER))
    for x in mx.contrib.safetensors.load(path, mmap=bool(random.randint(2))).values():
        x.asnumpy()


def _net():
    x = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=4, name="conv")
    x = mx.sym.Pooling(mx.sym.Activation(mx.sym.BatchNorm(x, name="norm"), act_type="relu"), kernel=(2, 2), pool_type="avg")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.reshape(x, shape=(0, -1)), num_hidden=5, name="fc"), name="softmax")


_WORDS = [b'"op": "null"', b'"Convolution"', b'"_backward_Convolution"', b'"take"', b"[0, 0, 0]", b"-1", b"99999999999",
          b"2147483647", b"null", b"[]", b"{}", b'""', b"(0, 0)",
          b'"(2147483647, 2147483647)"', b"1e999", b"[[", b'"num_filter": "0"', b'"kernel": "(1,)"', b"\\u0000", b"\xff"]


def symbol(random, path):
    _write(path, damage(random, _net().tojson().encode(), _WORDS))
    made = mx.sym.load(path)
    shapes = dict(zip(made.list_arguments(), [(1, 2, 8, 8)]))
    made.infer_shape_partial(**shapes)
    bound = made.simple_bind(mx.cpu(), **shapes)
    for x in bound.forward(is_train=True):
        x.asnumpy()
    bound.backward()
    mx.nd.waitall()


def record(random, path):
    index = path + ".idx"
    out = recordio.MXIndexedRecordIO(index, path, "w")
    for k in range(4):
        out.write_idx(k, recordio.pack(recordio.IRHeader(0, [float(k)] * (k + 1), k, 0), bytes([k]) * (10 * k)))
    out.close()
    for name in (path, index):
        with open(name, "rb") as f:
            data = f.read()
        if random.randint(3):
            _write(name, damage(random, data, [b"\x0a\x23\xd7\xce", b"\t", b"-1", b"99999999999999999999", b"nan"]))
    given = recordio.MXIndexedRecordIO(index, path, "r")
    try:
        for key in list(given.keys)[:20]:
            recordio.unpack(given.read_idx(key) or b"")
        given.reset()
        for _ in range(20):
            item = given.read()
            if item is None:
                break
            recordio.unpack(item)
    finally:
        given.close()


def states(random, path):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(),
                               ["adam", "sgd", "nag", "ftrl"][random.randint(4)],
                               {"learning_rate": 0.1}, kvstore=None)

    def step():
        with mx.autograd.record():
            loss = net(mx.nd.ones((4, 3))).sum()
        loss.backward()
        trainer.step(4)
    step()
    trainer.save_states(path)
    with open(path, "rb") as f:
        data = f.read()
    _write(path, damage(random, data, [b"\x80\x04", b".", b"N", b"}"]))
    trainer.load_states(path)
    try:
        step()
        mx.nd.waitall()
    except Exception as error:   # pylint: disable=broad-except  (of an optimizer whose attributes were renamed in the file)
        del error


def pickled(random, path):
    del path
    data = pickle.dumps(mx.nd.ones((2, 3)))
    pickle.loads(damage(random, data))   # its own errors are the interpreter's; ours must not crash


def predict(random, path):
    del path
    net = _net()
    shapes, _, aux = net.infer_shape(data=(1, 2, 8, 8))
    values = {"arg:" + n: mx.nd.ones(s) for n, s in zip(net.list_arguments(), shapes) if n not in ("data", "softmax_label")}
    values.update({"aux:" + n: mx.nd.ones(s) for n, s in zip(net.list_auxiliary_states(), aux)})
    name = os.path.join("/tmp", f"fuzz_predict_{os.getpid()}")
    mx.nd.save(name, values)
    with open(name, "rb") as f:
        blob = f.read()
    os.remove(name)
    which = random.randint(3)
    text = damage(random, net.tojson().encode(), _WORDS) if which != 1 else net.tojson().encode()
    blob = damage(random, blob) if which else blob
    handle, u = ctypes.c_void_p(), ctypes.c_uint32
    dims = [1, 2, 8, 8] if random.randint(4) else [int(d) for d in random.randint(0, 2**31, 4)]
    check_call(_LIB.MXPredCreate(ctypes.c_char_p(text), blob, ctypes.c_int(len(blob)), 1, 0, u(1),
                                 (ctypes.c_char_p * 1)(b"data"), (u * 2)(0, 4), (u * 4)(*dims), ctypes.byref(handle)))
    try:
        data = np.ones(128, "f")
        check_call(_LIB.MXPredSetInput(handle, b"data", data.ctypes.data_as(ctypes.c_void_p), u(128)))
        check_call(_LIB.MXPredForward(handle))
        shape, rank = ctypes.POINTER(u)(), u()
        check_call(_LIB.MXPredGetOutputShape(handle, u(0), ctypes.byref(shape), ctypes.byref(rank)))
        size = int(np.prod([shape[i] for i in range(rank.value)], dtype=np.int64))
        if size < 1 << 20:
            out = np.zeros(size, "f")
            check_call(_LIB.MXPredGetOutput(handle, u(0), out.ctypes.data_as(ctypes.c_void_p), u(size)))
    finally:
        check_call(_LIB.MXPredFree(handle))


def _pickled(random, path):
    try:
        pickled(random, path)
    except Exception as error:   # pylint: disable=broad-except  (a pickle is a program; only a crash counts)
        del error


READERS = {"params": params, "npz": npz, "symbol": symbol, "record": record, "states": states, "pickled": _pickled, "predict": predict,
           "torch": torch_file, "safetensors": safetensors, "onnx": onnx_files.onnx_model}
