"""What a new user does, with nothing installed but the wheel: trains on images, decodes a JPEG
file, exports, and serves over HTTP. Prints the seconds of each step, and fails if one does not do
what it should.
"""
import http.server
import json
import threading
import time
import urllib.request

start = time.time()


def done(step):
    global start
    print(f"{step:44} {time.time() - start:6.1f} s", flush=True)
    start = time.time()


import numpy as np  # noqa: E402

import mxnet as mx  # noqa: E402
from mxnet import autograd, gluon  # noqa: E402

done("import")


def pictures(count, seed):
    """Gray squares, circles and crosses on noise; (pictures, kinds)."""
    random = np.random.RandomState(seed)
    kinds, y, x = random.randint(0, 3, count), *np.mgrid[:28, :28]
    images = random.rand(count, 1, 28, 28).astype("float32") * 0.5
    for image, kind in zip(images, kinds):
        row, column, size = random.randint(9, 19, 2).tolist() + [random.randint(4, 8)]
        down, right = abs(y - row), abs(x - column)
        image[0] += [np.maximum(down, right) < size, down ** 2 + right ** 2 < size ** 2,
                     (np.minimum(down, right) < 2) & (np.maximum(down, right) < size)][kind] * 0.7
    return images, kinds.astype("float32")


mx.random.seed(0)
np.random.seed(0)
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(16, 5, strides=2, activation="relu"), gluon.nn.Conv2D(32, 3, strides=2, activation="relu"),
        gluon.nn.Flatten(), gluon.nn.Dense(64, activation="relu"), gluon.nn.Dense(3))
net.initialize(mx.init.Xavier())
net.hybridize()
trainer, loss = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 2e-3}), gluon.loss.SoftmaxCrossEntropyLoss()
batches = gluon.data.DataLoader(gluon.data.ArrayDataset(*pictures(3000, 0)), batch_size=50, shuffle=True)
for _ in range(10):
    for data, kinds in batches:
        with autograd.record():
            error = loss(net(data), kinds)
        error.backward()
        trainer.step(len(data))
accuracy = mx.metric.Accuracy()
images, kinds = pictures(500, 1)
accuracy.update(mx.nd.array(kinds), net(mx.nd.array(images)))
assert accuracy.get()[1] > 0.9, accuracy.get()
done(f"training, accuracy {accuracy.get()[1]:.2f}")

spectrum = mx.nd.linalg.gelqf(mx.nd.array(np.random.rand(4, 6), dtype="float64"))     # LAPACK
assert spectrum[0].shape == (4, 4) or spectrum[1].shape == (4, 4)
assert (mx.nd.sort(mx.nd.array([3, 1, 2])).asnumpy() == [1, 2, 3]).all()               # Highway
header = mx.recordio.IRHeader(0, 1.0, 0, 0)
picture = (images[0].transpose(1, 2, 0) / 1.2 * 255).astype("uint8").repeat(3, 2)
record = mx.recordio.pack_img(header, picture, img_fmt=".jpg")
decoded = mx.image.imdecode(mx.recordio.unpack(record)[1])
assert decoded.shape == (28, 28, 3) and abs(decoded.asnumpy().astype(int) - picture).mean() < 12
try:
    mx.image.imdecode(b"\x89PNG\r\n\x1a\n" + bytes(60))
    print("PNG files: decoded by", mx.runtime.Features()["OPENCV"])
except mx.MXNetError as message:
    print("PNG files:", message)
done("a JPEG file, encoded and decoded")

net.export("model")
served = gluon.SymbolBlock.imports("model-symbol.json", ["data"], "model-0000.params")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        image = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps({"kind": int(served(mx.nd.array([image])).argmax(1).asscalar())}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *words):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url, right = f"http://127.0.0.1:{server.server_port}/", 0
for image, kind in zip(images[:20], kinds):
    with urllib.request.urlopen(url, json.dumps(image.tolist()).encode()) as answer:
        right += json.load(answer)["kind"] == kind
server.shutdown()
server.server_close()
assert right > 15, right
done(f"export and 20 answers over HTTP, {right} right")
