"""The arrays of operators.py's cases. make(values, dtype or None, wanted=False) -> array; wanted:
its gradient may be asked for."""
import numpy as np


def arrays(make, rows):
    """Of CALLS, FORWARD and GRADIENT."""
    rng = np.random.default_rng(0)

    def normal(*shape, **kwargs):
        return make(rng.standard_normal(shape), None, **kwargs)
    width = 3072
    few = rng.integers(0, rows, rows)
    space = {name: normal(*shape, wanted=True) for name, shape in {
        "g": (rows, width), "h": (rows, width), "row": (1, width), "col": (rows, 1), "w": (width,),
        "img": (8, 64, 56, 56), "q": (96, 128, 64), "k": (96, 128, 64), "dense": (768, width),
        "k3": (64, 64, 3, 3), "k3d": (64, 1, 3, 3), "sounds": (50, 16, 40)}.items()}
    space.update(c=make(np.abs(rng.standard_normal(64)), None, wanted=True),
                 one=make(np.ones(64), None), mean=make(np.zeros(64), None),
                 positive=make(np.abs(rng.standard_normal((rows, width))) + 0.1, None, wanted=True),
                 small=make(rng.uniform(-0.99, 0.99, (rows, width)), None),
                 half=make(rng.standard_normal((rows, width)), "float16"),
                 brain=make(rng.standard_normal((rows, width)), "bfloat16"),
                 labels=make(rng.integers(1, 39, (16, 10)), None), few=make(few, "int64"),
                 chosen=make(rng.random((rows, width)) > 0.5, "bool"),
                 a=make(np.ones((4, 5)), None), b=make(np.ones((4, 5)), None),
                 vector=make(np.ones(5), None), values=np.ones((4, 5), "float32"))
    return space


def boxes(rng, n, size):
    """Corners of n boxes inside of `size` x `size` pixels."""
    first = rng.uniform(0, size * 0.8, (n, 2))
    return np.concatenate([first, np.minimum(first + rng.uniform(8, size * 0.4, (n, 2)), size - 1)], 1)


def of_vision(make):
    """Of VISION."""
    rng = np.random.default_rng(0)
    space = {f"found{n}": make(np.concatenate([np.zeros((n, 1)), rng.permutation(n)[:, None] / n, boxes(rng, n, 500)], 1), None)
             for n in (100, 2000)}
    for n in (8, 256):
        space[f"rois{n}"] = make(np.concatenate([rng.integers(0, 2, (n, 1)), boxes(rng, n, 224)], 1), None)
    for name, shape in {"img": (2, 64, 56, 56), "img98": (2, 98, 56, 56), "k3": (64, 64, 3, 3), "places": (2, 18, 56, 56)}.items():
        space[name] = make(rng.standard_normal(shape), None, wanted=True)
    return dict(space, weights=make(rng.random((2, 9, 56, 56)), None, wanted=True),
                grid=make(rng.uniform(-1, 1, (2, 2, 56, 56)), None, wanted=True),
                boxes=make(boxes(rng, 500, 500), None), anchors=make(boxes(rng, 500, 500), None),
                photo=make(rng.integers(0, 256, (480, 640, 3)), "uint8"),
                tensor=make(rng.random((3, 224, 224)), None))


def of_linalg(make):
    """Of LINALG."""
    rng = np.random.default_rng(0)
    space = {}
    for n, shape in ((4, (4, 4)), (16, (256, 16, 16)), (512, (512, 512))):
        a = rng.standard_normal(shape) / np.sqrt(n) + np.eye(n)
        s = a @ np.swapaxes(a, -1, -2) + np.eye(n)
        for name, values in (("a", a), ("s", s), ("l", np.linalg.cholesky(s))):
            space[f"{name}{n}"] = make(values, None, wanted=True)
    return space


def of(part, make, rows):
    """The namespace of a part's cases."""
    if part.startswith("vision"):
        return of_vision(make)
    return of_linalg(make) if part.startswith("linalg") else arrays(make, rows)
