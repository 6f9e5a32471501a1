"""Writes data/image_oracle.npz: image files, and what MXNet 1.9.1 makes of them and of arrays.

    python record_oracle_image.py files FOLDER          # with Pillow: makes the files
    oracle/bin/python record_oracle_image.py record FOLDER
"""
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def wavy(rng, height, width, channels):
    y, x = np.mgrid[:height, :width]
    planes = [(np.sin(x / 7 + c) + np.cos(y / 5 - c)) * 60 + 128 for c in range(channels)]
    return (np.stack(planes, -1) + rng.randint(-15, 15, (height, width, channels))).clip(0, 255).astype("uint8")


def make_files(folder):
    from PIL import Image
    os.makedirs(folder, exist_ok=True)
    rng = np.random.RandomState(0)
    colour = Image.fromarray(wavy(rng, 19, 23, 3))
    gray = Image.fromarray(wavy(rng, 19, 23, 1)[..., 0])
    turned = Image.Exif()
    turned[274] = 6
    for name, options in {"420.jpg": dict(quality=90), "444.jpg": dict(quality=75, subsampling=0),
                          "422_progressive.jpg": dict(quality=80, subsampling=1, progressive=True),
                          "restarts.jpg": dict(quality=70, optimize=True, restart_marker_blocks=3),
                          "turned.jpg": dict(exif=turned), "colour.png": {}, "colour.bmp": {}, "colour.tiff": {}}.items():
        colour.save(os.path.join(folder, name), **options)
    for name in ("gray.jpg", "gray.png", "gray.bmp"):
        gray.save(os.path.join(folder, name))
    colour.convert("CMYK").save(os.path.join(folder, "cmyk.jpg"))
    colour.quantize(16).save(os.path.join(folder, "palette.png"))
    Image.fromarray(wavy(rng, 12, 11, 4)).save(os.path.join(folder, "alpha.png"))
    Image.fromarray(wavy(rng, 9, 11, 1)[..., 0].astype("uint16") * 257).save(os.path.join(folder, "16_bits.png"))


def resizings(mx, put):
    rng = np.random.RandomState(5)
    cases = []
    for i in range(40):
        height, width = rng.randint(1, 15, 2)
        to = rng.randint(1, 18, 2)
        if i % 4 == 0:
            to = rng.randint(1, 8, 2)
            height, width = to * (2 if i % 8 else rng.randint(1, 4, 2))
        dtype = ("uint8", "uint8", "float32", "float64")[i % 4 if i % 8 else 0]
        image = (rng.rand(height, width, (3, 1, 4, 2)[i % 3 if i % 5 else 3]) * 255).astype(dtype)
        put(f"resize/{i}/from", image)
        for interp in range(6 if dtype == "uint8" else 5):
            out = mx.nd.image.resize(mx.nd.array(image, dtype=dtype), size=(int(to[1]), int(to[0])), interp=interp)
            cases.append([i, int(to[1]), int(to[0]), interp])
            put(f"resize/{i}/{interp}", out.asnumpy())
    put("resize", np.array(cases))


def colours(mx, put):
    rng = np.random.RandomState(6)
    cases = []
    for dtype in ("uint8", "float32"):
        image = rng.randint(0, 256, (12, 13, 3)).astype(dtype)
        put(f"colour/{dtype}", image)
        for op in ("brightness", "contrast", "saturation", "hue"):
            for amount in (0.0, 0.1, 0.3, 0.77, 1.0, 1.5):
                out = getattr(mx.nd.image, "random_" + op)(mx.nd.array(image, dtype=dtype), min_factor=amount, max_factor=amount)
                cases.append([dtype, op, amount])
                put(f"colour/{dtype}/{op}/{amount}", out.asnumpy())
    put("colour", np.array(json.dumps(cases)))


def rotations(mx, put):
    rng = np.random.RandomState(7)
    cases = []
    for i in range(12):
        height, width = rng.randint(2, 12, 2)
        degrees = float(rng.uniform(-200, 200))
        image = rng.rand(2, height, width).astype("float32")
        out = mx.image.imrotate(mx.nd.array(image), degrees, zoom_in=i % 3 == 1, zoom_out=i % 3 == 2)
        cases.append([degrees, i % 3 == 1, i % 3 == 2])
        put(f"rotate/{i}/from", image)
        put(f"rotate/{i}/to", out.asnumpy())
    put("rotate", np.array(json.dumps(cases)))


def record(folder):
    import mxnet as mx
    arrays = {}
    names = sorted(os.listdir(folder))
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        arrays[f"file/{name}"] = np.frombuffer(data, np.uint8)
        for flag in (0, 1):
            arrays[f"decoded/{name}/{flag}"] = mx.image.imdecode(data, flag=flag).asnumpy()
    for part in (resizings, colours, rotations):
        part(mx, arrays.__setitem__)
    arrays["files"] = np.array(json.dumps(names))
    np.savez_compressed(os.path.join(HERE, "data", "image_oracle.npz"), **arrays)


if __name__ == "__main__":
    {"files": make_files, "record": record}[sys.argv[1]](sys.argv[2])
