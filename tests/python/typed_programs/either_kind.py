"""Parameters and pictures are arrays of either kind; their variables may become those of one."""
import numpy as onp

from mxnet import gluon, image, nd, np, recordio


def f(p: gluon.Parameter, x: nd.NDArray) -> nd.NDArray:
    w = p.data()
    w = nd.dot(x, w)
    g = p.grad()
    g = g * 2 + x
    g = nd.clip(g, -1, 1)
    return w + g


def h(p: gluon.Parameter, x: np.ndarray, net: gluon.Block) -> np.ndarray:
    w = p.data() * 3
    w = np.dot(x, w)
    out = net(x, w)
    out = out.reshape(-1)
    out = np.exp(out)
    return out


def both(p: gluon.Parameter) -> nd.NDArray:
    return 1 - p.data().T[0] / 2


with open("a.jpg", "wb") as file:
    file.write(recordio.unpack(recordio.pack_img(recordio.IRHeader(0, 0.0, 0, 0), onp.ones((8, 9, 3), "uint8")))[1])
img = image.imread("a.jpg")
img = nd.image.to_tensor(img)
crop, (a, b, c, d) = image.random_crop(img, (3, 4))
width: int = c
