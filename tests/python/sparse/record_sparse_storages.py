"""Records the storages of 1.9.1's results: run with a Python that has mxnet 1.9.1."""
import json
import os

import mxnet as mx
import numpy as np
from sparse_cases import CASES, SHORT, call, dense, key


def main():
    storages = {}
    for name, letters, shapes, params in CASES:
        arrays = [mx.nd.array(dense(np, s, i)).tostype(SHORT[letter])
                  for i, (letter, s) in enumerate(zip(letters, shapes))]
        storages[key(name, letters, shapes, params)] = call(mx, name, arrays, params).stype
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sparse_storages.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(storages, file, indent=0, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
