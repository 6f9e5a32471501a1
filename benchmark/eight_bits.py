"""Networks of networks.py in 8 bits, on disk beside their float32 files: net_qdq.onnx, which every
contestant reads, and net8-symbol.json with net8.params, this library's own form of the same
weights.

As a program it makes one of them: `eight_bits.py qdq FOLDER` in an interpreter with onnx and
onnxruntime, `eight_bits.py own FOLDER` in this library's. Both calibrate with the same examples.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
QDQ, OWN, OWN_PARAMS = "net_qdq.onnx", "net8-symbol.json", "net8.params"
CALIBRATED = 4   # examples


class _Examples:
    """What onnxruntime's calibration reads."""

    def __init__(self, name, arrays):
        self.name, self.left = name, list(arrays)

    def get_next(self):
        return {self.name: self.left.pop()} if self.left else None


def _network(folder):
    from networks import ALL, examples
    with open(os.path.join(folder, "meta.json")) as f:
        network = ALL[json.load(f)["name"]]
    x = examples(network, CALIBRATED)
    return [x[i:i + 1] for i in range(CALIBRATED)]


def make_qdq(folder):
    """Per channel, activations unsigned: the form that both others are fastest with."""
    import onnx
    from onnxruntime.quantization import QuantFormat, QuantType, quant_pre_process, quantize_static
    source, ready, path = (os.path.join(folder, n) for n in ("net.onnx", "net.ready.part", QDQ))
    quant_pre_process(source, ready, skip_symbolic_shape=True)
    name = onnx.load(ready, load_external_data=False).graph.input[0].name
    quantize_static(ready, path + ".part", _Examples(name, _network(folder)), per_channel=True, weight_type=QuantType.QInt8,
                    quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8)
    os.rename(path + ".part", path)
    os.remove(ready)


def make_own(folder):
    import mxnet as mx
    from networks import load, symbol_block
    net = symbol_block(mx, *load(folder), gradients=False)
    net.hybridize()
    batches = [mx.nd.array(x) for x in _network(folder)]
    int8 = mx.contrib.quantization.quantize_net(net, quantized_dtype="auto", calib_mode="naive", calib_data=batches)
    print(int8.quantization)
    int8.export(os.path.join(folder, "net8.part"))
    os.rename(os.path.join(folder, "net8.part-0000.params"), os.path.join(folder, OWN_PARAMS))
    os.rename(os.path.join(folder, "net8.part-symbol.json"), os.path.join(folder, OWN))


def made(form, folder, python, env):
    """Path of a form's file, made by `python` if it is not there yet; None where that fails."""
    path = os.path.join(folder, {"qdq": QDQ, "own": OWN}[form])
    if not os.path.exists(path):
        done = subprocess.run([python, os.path.join(HERE, "eight_bits.py"), form, folder], env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            print(f"{folder}: {form} is not made: {done.stdout.strip().splitlines()[-1:]}", file=sys.stderr)
    return path if os.path.exists(path) else None


def make_both(folder, python, peers, environments):
    """All forms that can be made: our own by `python`, the QDQ file by `peers`, unless that is
    None; environments: theirs."""
    mine, plain = environments
    made("own", folder, python, mine)
    if peers:
        made("qdq", folder, peers, plain)


if __name__ == "__main__":
    sys.path.insert(0, HERE)
    {"qdq": make_qdq, "own": make_own}[sys.argv[1]](sys.argv[2])
