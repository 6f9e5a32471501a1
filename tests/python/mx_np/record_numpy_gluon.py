"""Writes data/numpy_gluon.json: what MXNet 2.0.0b1 gives for numpy_gluon_programs.py. To be run
there: /work/oracle/v20/bin/python record_numpy_gluon.py."""
import json
import os

from mxnet import npx

npx.set_np()
import numpy_gluon_programs as programs    # noqa: E402

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

if __name__ == "__main__":
    found = {program.__name__: program(False) for program in programs.PROGRAMS}
    with open(os.path.join(HERE, "data", "numpy_gluon.json"), "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
