"""Writes data/im2rec_oracle.json: small pictures, and what the tool of MXNet 1.9.1 makes of them.

    oracle/bin/python tests/python/data_loading/record_oracle_im2rec.py

in an environment with mxnet 1.9.1, OpenCV 4.8.1 and Pillow.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np
from PIL import Image

LISTS = ["", "--recursive", "--recursive --no-shuffle", "--chunks 2", "--chunks 5", "--recursive --train-ratio 0.5 --test-ratio 0.25",
         "--recursive --train-ratio 0.7 --chunks 3", "--recursive --train-ratio 0 --test-ratio 1",
         "--recursive --train-ratio 0.9 --test-ratio 0.3", "--recursive --train-ratio 1 --test-ratio .2", "--exts .jpg .gif"]
RECORDS = ["", "--resize 16", "--resize 40", "--resize 16 --center-crop", "--center-crop", "--pass-through", "--color -1", "--pack-label",
           "--color 0 --quality 50", "--color 0 --resize 11", "--encoding .png --quality 3", "--encoding .png --color -1", "--quality 101"]


def picture(height, width, seed):
    draw = np.random.default_rng(seed)
    rough = cv2.resize(draw.integers(0, 256, (4, 4, 3), dtype=np.uint8), (width, height), interpolation=cv2.INTER_CUBIC)
    return (rough.astype(int) + draw.integers(-4, 5, (height, width, 3))).clip(0, 255).astype(np.uint8)


def make_pictures():
    for number, (folder, count) in enumerate([("cat", 3), ("dog", 2), ("sub/deep", 2)]):
        os.makedirs(folder)
        for i in range(count):
            cv2.imwrite(f"{folder}/{i}.jpg", picture(20 + 7 * i, 31 - 4 * number, 10 * number + i))
    cv2.imwrite("top.jpg", picture(19, 24, 50))
    cv2.imwrite("top.PNG", picture(13, 12, 51))
    cv2.imwrite("cat/gray.jpeg", picture(20, 17, 52)[:, :, 0])
    cv2.imwrite("cat/alpha.png", np.dstack([picture(14, 20, 53), picture(14, 20, 54)[:, :, 0]]))
    Image.fromarray(picture(16, 16, 55)).convert("CMYK").save("cat/cmyk.jpg")
    for orientation in (3, 5, 6, 8):
        exif = Image.Exif()
        exif[274] = orientation
        for ending in ("jpg", "png")[:1 + (orientation == 6)]:
            Image.fromarray(picture(12, 18, 56)).save(f"dog/turned{orientation}.{ending}", exif=exif)
    with open("notes.txt", "w") as out:
        out.write("no picture")


def tool(*arguments):
    return subprocess.run([sys.executable, "-m", "mxnet.tools.im2rec", "out/p", "pictures", *arguments], check=True, capture_output=True,
                          text=True).stdout


def clean():
    for name in os.listdir("out"):
        os.unlink(f"out/{name}")


def main():
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    os.chdir(tempfile.mkdtemp())
    os.makedirs("pictures")
    os.makedirs("out")
    os.chdir("pictures")
    make_pictures()
    os.chdir("..")
    files = [os.path.relpath(os.path.join(folder, name), "pictures") for folder, _, names in os.walk("pictures") for name in names]
    result = {"files": {name: open(f"pictures/{name}", "rb").read().hex() for name in sorted(files)}, "lists": [], "records": []}
    for text in LISTS:
        printed = tool("--list", *text.split())
        lists = {name: open(f"out/{name}").read() for name in os.listdir("out")}
        result["lists"].append({"arguments": text.split(), "lists": lists, "printed": printed})
        clean()
    tool("--list", "--recursive")
    result["list"] = open("out/p.lst").read()
    for text in RECORDS:
        tool("--num-thread", "1", *text.split())
        sha1 = {ending: hashlib.sha1(open(f"out/p{ending}", "rb").read()).hexdigest() for ending in (".rec", ".idx")}
        result["records"].append({"arguments": text.split(), "sha1": sha1})
    with open(os.path.join(here, "data", "im2rec_oracle.json"), "w") as out:
        json.dump(result, out, indent=1)


if __name__ == "__main__":
    main()
