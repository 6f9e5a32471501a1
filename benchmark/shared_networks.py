"""Inference by whole networks for shared.py: ResNet-50 and BERT-base of networks.py, with MXNet,
PyTorch, ONNX Runtime and OpenVINO. Their folder is made before a contestant starts; nobody gets a
setting, so each chooses its own threads."""
import os

import numpy as np

from networks import ALL, add_onnx, examples, load, prepare, symbol_block

CACHE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "networks")


def folder_of(name):
    """Where `made` put the network."""
    return os.environ["MXNET_TEST_SHARED_" + name.upper()]


def made(name, peers, cache=CACHE):
    """The network's folder, told to the contestants; net.onnx by `peers`, an interpreter with torch
    and onnx, where there is one."""
    from alternate import environments
    folder = prepare(name, cache)
    if peers:
        add_onnx(folder, peers, environments("wall")[1])
    os.environ["MXNET_TEST_SHARED_" + name.upper()] = folder
    return folder


def _numbers(y):
    """Few, and of the size of the result's largest."""
    y = np.asarray(y, "float64").reshape(-1)
    return [float(np.abs(y).mean()), float(np.sqrt(np.square(y).mean()))]


def programs(name):
    """(MXNet's, PyTorch's, {ONNX runtime: its}) for one example."""
    def mxnet(mx):
        net = symbol_block(mx, *load(folder_of(name)), gradients=False)
        net.hybridize(static_alloc=True, static_shape=True)
        x = mx.nd.array(examples(ALL[name], 1))
        return lambda: net(x).wait_to_read(), lambda: _numbers(net(x).asnumpy())

    def torch_(torch):
        from contestants import torch_module
        x = torch.from_numpy(examples(ALL[name], 1))
        images = x.ndim == 4
        net = torch_module(folder_of(name), images).eval()
        x = x.to(memory_format=torch.channels_last) if images else x

        def run():
            with torch.inference_mode():
                return net(x)
        return run, lambda: _numbers(run().float().numpy())

    def onnxruntime(module):
        session = module.InferenceSession(os.path.join(folder_of(name), "net.onnx"), providers=["CPUExecutionProvider"])
        feed = {session.get_inputs()[0].name: examples(ALL[name], 1)}

        def run():
            return session.run(None, feed)[0]
        return run, lambda: _numbers(run())

    def openvino(module):
        model = module.Core().read_model(os.path.join(folder_of(name), "net.onnx"))
        x = examples(ALL[name], 1)
        model.reshape(list(x.shape))
        compiled = module.Core().compile_model(model, "CPU", {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"})
        request = compiled.create_infer_request()

        def run():
            return request.infer([x], share_inputs=True, share_outputs=True)[0]
        return run, lambda: _numbers(run())
    return mxnet, torch_, {"onnxruntime": onnxruntime, "openvino": openvino}
