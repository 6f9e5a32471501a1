"""Makes the models that `./dev bench onnx` times: torch's two exporters, scikit-learn, and
onnxruntime's quantizers, with random weights that give outputs like those of real ones.

As a program it runs in an interpreter with torch, torchvision, onnx, scikit-learn, skl2onnx and
onnxruntime, and needs no network. For each model the folder has NAME.onnx and, for each batch,
NAME.BATCH.npz with inputs and what the maker itself computed for them."""
import argparse
import fnmatch
import os
import sys
import traceback
import warnings

import numpy as np

BATCHES = (1, 8)
OTHER = "other"   # inputs of another shape
MADE = {}         # name -> Made


class Made:
    """kind: the row of the table. make(folder, name) writes NAME.onnx and returns a function of
    inputs that computes the outputs. inputs(batch): name -> array; batch None: other shapes, or
    nothing where the file has no others. batches: those that the file takes."""

    def __init__(self, kind, make, inputs, batches=BATCHES, quantized=False, half=False):
        self.kind, self.make, self.inputs, self.batches = kind, make, inputs, batches
        self.quantized, self.half = quantized, half


# Inputs like real ones.

def draw(*seeds):
    return np.random.default_rng([sum(str(w).encode()) for w in seeds])


def images(shape, seed="images"):
    """Smooth, with edges, and with the mean and spread of normalised photographs."""
    rng, (n, c, h, w) = draw(seed, shape), shape
    rows, columns = np.linspace(0, 1, h)[:, None], np.linspace(0, 1, w)[None]
    out = np.zeros(shape)
    for i in range(n):
        for _ in range(6):
            a, b, phase = rng.uniform(-9, 9, 3)
            out[i] += rng.normal(size=(c, 1, 1)) * np.sin(a * rows + b * columns + phase)
        top, left = rng.integers(0, h // 2), rng.integers(0, w // 2)
        out[i, :, top:top + h // 3, left:left + w // 3] += rng.normal(size=(c, 1, 1))
    return ((out + 0.1 * rng.normal(size=shape)) / out.std()).astype("float32")


def words(shape, most, seed="words"):
    """Few words are frequent."""
    return np.minimum(draw(seed, shape).zipf(1.3, shape), most - 1).astype("int64")


def sounds(shape, seed="sounds"):
    rng = draw(seed, shape)
    t = np.arange(shape[-1])
    out = sum(rng.normal(size=(*shape[:-1], 1)) * np.sin(t * rng.uniform(0.01, 0.6, (*shape[:-1], 1))) for _ in range(8))
    return (0.3 * out + 0.05 * rng.normal(size=shape)).astype("float32")


def photos(size, channels=3):
    return lambda batch: {"x": images((3 if batch is None else batch, channels, size, size))}


def photo(size):
    return lambda batch: {"x": (images((1, 3, size, size))[0] * 0.2 + 0.5).clip(0, 1).astype("float32")} if batch else None


def masks(batch, count):
    lengths = [count - (7 * i) % (count // 2) for i in range(batch)]
    return (np.arange(count)[None] < np.array(lengths)[:, None]).astype("int64")


def text(most, count=64, types=True):
    def inputs(batch):
        n, t = (batch, count) if batch else (2, count // 2 + 5)
        ids = words((n, t), most)
        given = {"ids": ids, "mask": masks(n, t)}
        return {**given, "types": (np.arange(t)[None] > t // 2).repeat(n, 0).astype("int64")} if types else given
    return inputs


def series(batch):
    return {"x": words((batch or 3, 40 if batch else 33), 2000)}


def cached(layers, heads, size, positions):
    """One new word behind 64 earlier ones; elsewhere behind 65."""
    def inputs(batch):
        n, before = batch or 1, 64 if batch else 65
        past = {f"{kind}{i}": draw(kind, i).normal(size=(n, heads, before, size)).astype("float32")
                for i in range(layers) for kind in ("k", "v")}
        second = {"positions": np.full((n, 1), before, "int64")} if positions else {"mask": np.ones((n, before + 1), "int64")}
        return {"ids": words((n, 1), 8000), **second, **past}
    return inputs


# torch.

def settled(net, inputs):
    """With the statistics of BatchNorm that such inputs have."""
    import torch
    norms = [m for m in net.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    if norms:
        for m in norms:
            m.reset_running_stats()
            m.momentum = None
        net.train()
        with torch.no_grad():
            for _ in range(2):
                net(*inputs)
    for m in net.modules():   # layers that begin as nothing
        if isinstance(m, torch.nn.Linear) and float(m.weight.detach().abs().max()) == 0:
            torch.nn.init.normal_(m.weight, std=0.05)
        if "layer_scale" in dict(m.named_parameters(recurse=False)):
            torch.nn.init.constant_(m.layer_scale, 0.2)
    return net.eval()


def exported(build, inputs, outputs=1, free="n", dynamo=False):
    """free: input -> axes that are free, or "n": the first of each."""
    def make(folder, name):
        import torch
        torch.manual_seed(0)
        torch.backends.mha.set_fastpath_enabled(False)   # one operator, which exporters do not know
        tensors = lambda given: tuple(torch.from_numpy(v) for v in given.values())
        net, given = build(), inputs(2 if free == "n" or isinstance(free, dict) else 1)
        net = net.eval() if getattr(net, "settled", False) else settled(net, tensors(inputs(8 if free else 1)))
        path, names = os.path.join(folder, name + ".onnx"), list(given)
        axes = {k: {0: "n"} for k in names} if free == "n" else free or None
        count = ["y"] if outputs == 1 else [f"y{i}" for i in range(outputs)]
        with torch.no_grad():
            if dynamo:
                dims = {}
                shapes = tuple({a: dims.setdefault(d, torch.export.Dim(d, min=1, max=512)) for a, d in axes[k].items()} for k in names)
                program = torch.onnx.export(net, tensors(given), dynamo=True, dynamic_shapes=shapes, input_names=names,
                                            output_names=count, verbose=False)
                program.save(path)
            else:
                def older(opset):
                    torch.onnx.export(net, tensors(given), path, input_names=names, output_names=count, dynamo=False,
                                      dynamic_axes=axes, opset_version=opset)
                try:
                    older(17)
                except torch.onnx.errors.UnsupportedOperatorError:
                    older(20)

        def compute(values):
            with torch.no_grad():
                results = net(*tensors(values))
            return [r.numpy() for r in (results if isinstance(results, (tuple, list)) else [results])]
        return compute
    return make


def vision(name, **options):
    def build():
        import torchvision
        return getattr(torchvision.models, name)(weights=None, **options)
    return build


def detector(name, **options):
    def build():
        import onnx_nets
        import torchvision
        net = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None, **options)
        settled(net.backbone, (import_torch().from_numpy(images((8, 3, 320, 320))),))
        return onnx_nets.Detections(net)
    return build


def segmentation(name):
    def build():
        import onnx_nets
        import torchvision
        return onnx_nets.Segmentation(getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None))
    return build


def torch_models():
    def own(name, *options):
        def build():
            import onnx_nets
            return getattr(onnx_nets, name)(*options)
        return build

    def add(name, kind, build, inputs, batches=BATCHES, **options):
        MADE[name] = Made(kind, exported(build, inputs, **options), inputs, batches)
    x224 = photos(224)
    for name, options in (("resnet18", {}), ("resnet50", {}), ("mobilenet_v2", {}), ("mobilenet_v3_small", {}), ("efficientnet_b0", {}),
                          ("densenet121", {}), ("googlenet", {"init_weights": False, "aux_logits": False}), ("squeezenet1_1", {}),
                          ("shufflenet_v2_x1_0", {}), ("regnet_y_400mf", {}), ("convnext_tiny", {}), ("vit_b_32", {}), ("swin_t", {}),
                          ("mnasnet0_5", {})):
        add(name, "classification", vision(name, **options), x224)
    add("inception_v3", "classification", vision("inception_v3", init_weights=False, aux_logits=False), photos(299))

    def vgg():
        import torch
        net = vision("vgg11_bn")()
        net.classifier = torch.nn.Sequential(torch.nn.Linear(25088, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1000))
        return net
    add("vgg11_bn", "classification", vgg, x224)
    for name in ("resnet18", "mobilenet_v3_small", "vit_b_32"):
        add(name + "_dynamo", "classification", vision(name), x224, dynamo=True)

    fixed = {"free": None, "batches": (1,)}
    add("ssdlite", "detection", detector("ssdlite320_mobilenet_v3_large"), photo(320), outputs=3, **fixed)
    add("faster_rcnn", "detection", detector("fasterrcnn_mobilenet_v3_large_320_fpn", box_score_thresh=0.0, num_classes=5),
        photo(320), outputs=3, **fixed)
    add("yolo", "detection", own("Yolo"), lambda batch: {"x": images((1, 3, 320, 320))} if batch else None, outputs=3, **fixed)
    for name, size in (("lraspp_mobilenet_v3_large", 224), ("fcn_resnet50", 128), ("deeplabv3_mobilenet_v3_large", 224)):
        add(name, "segmentation", segmentation(name), photos(size))
    two = {"ids": {0: "n", 1: "t"}, "mask": {0: "n", 1: "t"}}
    add("bert", "text encoder", own("Bert", 4, 256, 4), text(8000), outputs=2, free={**two, "types": {0: "n", 1: "t"}})
    add("bert_small_dynamo", "text encoder", own("Bert", 6, 384, 6, 8000, False), text(8000, 64, False), outputs=2, free=two, dynamo=True)

    def past(layers, second, axes):
        return {"ids": {0: "n", 1: "s"}, second: axes, **{f"{kind}{i}": {0: "n", 2: "p"} for i in range(layers) for kind in "kv"}}
    add("gpt", "decoder with cache", own("Gpt"), cached(6, 6, 64, False), outputs=13, free=past(6, "mask", {0: "n", 1: "all"}))
    add("llama", "decoder with cache", own("Llama"), cached(6, 2, 64, True), outputs=13, free=past(6, "positions", {0: "n", 1: "s"}))
    add("speech_encoder", "speech", own("SpeechEncoder"), lambda batch: {"x": sounds((batch or 3, 80, 400))})
    add("wave", "speech", own("Wave"), lambda batch: {"x": sounds((batch or 1, 16000 if batch else 12000))}, free={"x": {0: "n", 1: "t"}})
    add("streaming", "speech", own("Streaming"), lambda batch: {
        "x": sounds((batch or 1, 10 if batch else 16, 80)), **{k: 0.3 * sounds((2, batch or 1, 256), k) for k in "hc"}},
        outputs=3, free={"x": {0: "n", 1: "t"}, "h": {1: "n"}, "c": {1: "n"}})
    add("ocr_crnn", "OCR", own("Crnn"), lambda batch: {"x": images((batch or 2, 1, 32, 128 if batch else 96))},
        free={"x": {0: "n", 3: "w"}})
    for kind in ("LSTM", "GRU", "RNN"):
        add(kind.lower(), "recurrent", own("Recurrent", kind, kind != "GRU"), series, free={"x": {0: "n", 1: "t"}})
    add("dlrm", "recommender", own("Dlrm"), lambda batch: {
        "dense": np.log1p(draw("dense").exponential(3, (batch or 3, 13))).astype("float32"), "ids": words((batch or 3, 26, 5), 2000)})
    add("deepfm", "recommender", own("DeepFm"), lambda batch: {"ids": words((batch or 3, 39), 500) + 500 * np.arange(39)})
    add("unet", "diffusion", own("UNet"), lambda batch: {
        "x": draw("noise").normal(size=(batch or 3, 4, 32, 32)).astype("float32"), "t": np.linspace(20, 900, batch or 3).astype("float32")})
    add("vae_decoder", "diffusion", own("VaeDecoder"), photos(16, 4))
    add("super_resolution", "super-resolution", own("SuperResolution"), lambda batch: {
        "x": images((batch or 1, 1, 96, 96 if batch else 80))}, free={"x": {0: "n", 2: "h", 3: "w"}})
    for name, build, inputs, outputs, free in (("resnet18", vision("resnet18"), x224, 1, "n"),
                                               ("bert", own("Bert", 4, 256, 4), text(8000), 2, {**two, "types": {0: "n", 1: "t"}})):
        for dtype in ("float16", "bfloat16"):
            made = name + "_" + dtype
            MADE[made] = Made(dtype, exported(half(build, inputs, dtype), inputs, outputs, free), inputs, half=True)


def small_models():
    def add(name, inputs):
        def build():
            import onnx_small_nets
            return getattr(onnx_small_nets, name)()
        label = "small_" + "".join("_" * (i > 0 and c.isupper()) + c.lower() for i, c in enumerate(name))
        MADE[label] = Made("small", exported(build, inputs), inputs)

    def numbers(*shape):
        return lambda batch: {"x": draw("numbers", shape).normal(size=(batch or 3, *shape)).astype("float32")}
    for name, size, channels in (("TinyResNet", 32, 3), ("TinyPersons", 96, 3), ("LeNet", 28, 1), ("Game", 84, 4)):
        add(name, photos(size, channels))
    for name, shape in (("TinyAutoencoder", (640,)), ("TinyKeywords", (1, 49, 10)), ("Table", (40,)), ("Series", (8, 128)),
                        ("Generator", (64, 1, 1)), ("Policy", (48,)), ("Gru", (48, 16))):
        add(name, numbers(*shape))
    add("Sentence", lambda batch: {"ids": words((batch or 3, 32), 2000)})


def import_torch():
    import torch
    return torch


def half(build, inputs, dtype):
    def made():
        import onnx_nets
        torch = import_torch()
        net = settled(build(), tuple(torch.from_numpy(v) for v in inputs(8).values()))
        return onnx_nets.Half(net, getattr(torch, dtype))
    return made


# scikit-learn.

def learned_models():
    def add(name, data, learner):
        def table():
            import sklearn.datasets
            x, y = getattr(sklearn.datasets, "load_" + data)(return_X_y=True)
            return x.astype("float32"), y

        def inputs(batch):
            return {"X": np.ascontiguousarray(table()[0][5:5 + (batch or 3)])}

        def make(folder, name):
            from skl2onnx import to_onnx
            x, y = table()
            model = learner().fit(x, y)
            classifies = hasattr(model, "predict_proba")
            options = {id(model): {"zipmap": False}} if classifies else None
            with open(os.path.join(folder, name + ".onnx"), "wb") as f:
                f.write(to_onnx(model, x[:1], options=options).SerializeToString())
            if classifies:
                return lambda given: [model.predict(given["X"]), model.predict_proba(given["X"])]
            return lambda given: [model.predict(given["X"])[:, None]]
        MADE[name] = Made("scikit-learn", make, inputs)

    def ensemble(name, **options):
        def build():
            import sklearn.ensemble
            return getattr(sklearn.ensemble, name)(random_state=0, **options)
        return build

    def scaled(module, name, **options):
        def build():
            from importlib import import_module
            from sklearn.pipeline import make_pipeline
            from sklearn.preprocessing import StandardScaler
            return make_pipeline(StandardScaler(), getattr(import_module("sklearn." + module), name)(**options))
        return build
    add("random_forest", "digits", ensemble("RandomForestClassifier", n_estimators=100))
    add("gradient_boosting", "diabetes", ensemble("GradientBoostingRegressor"))
    add("extra_trees", "breast_cancer", ensemble("ExtraTreesClassifier", n_estimators=50))
    add("logistic", "breast_cancer", scaled("linear_model", "LogisticRegression"))
    add("svc", "digits", scaled("svm", "SVC", probability=True))
    add("mlp", "digits", scaled("neural_network", "MLPClassifier", max_iter=60))


# Quantized forms.

class Calibration:
    def __init__(self, values):
        self.left = list(values)

    def get_next(self):
        return self.left.pop() if self.left else None


def reference_of(folder, name):
    """The runtime that the quantizer is part of."""
    import onnxruntime
    session = onnxruntime.InferenceSession(os.path.join(folder, name + ".onnx"), providers=["CPUExecutionProvider"])
    return lambda given: session.run(None, given)


# What quantize_static is told: the format, the types of activations and weights, and the rest.
FORMS = {
    "QDQ": ("QDQ", "U", "I", {"per_channel": True}), "QOperator": ("QOperator", "U", "I", {"per_channel": True}),
    "QDQ, one scale": ("QDQ", "U", "I", {}), "QDQ, S8S8": ("QDQ", "I", "I", {"per_channel": True}),
    "QDQ, symmetric": ("QDQ", "I", "I", {"extra_options": {"ActivationSymmetric": True}}),
    "QDQ, U8U8": ("QDQ", "U", "U", {}), "QDQ, 7 bits": ("QDQ", "U", "I", {"per_channel": True, "reduce_range": True}),
    "QOperator, U8U8": ("QOperator", "U", "U", {}), "QOperator, S8S8": ("QOperator", "I", "I", {})}


def quantized(base, form):
    def make(folder, name):
        import onnx
        from onnxruntime.quantization import QuantFormat, QuantType, quant_pre_process, quantize_dynamic, quantize_static
        source, path = os.path.join(folder, base + ".onnx"), os.path.join(folder, name + ".onnx")
        types = {"U": QuantType.QUInt8, "I": QuantType.QInt8}
        if not os.path.exists(source):
            one(base, folder)
        if form.startswith("dynamic"):
            quantize_dynamic(source, path, weight_type=types["U" if form.endswith("U8") else "I"])
        elif form == "4 bits":
            from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
            maker = MatMulNBitsQuantizer(onnx.load(source), block_size=32, is_symmetric=True, accuracy_level=4)
            maker.process()
            maker.model.save_model_to_file(path, False)
        else:
            ready, inputs = path + ".part", MADE[base].inputs
            quant_pre_process(source, ready, skip_symbolic_shape=True)
            values = [{k: v[i:i + 1] for k, v in inputs(8).items()} for i in range(8)]
            layout, activations, weights, options = FORMS[form]
            quantize_static(ready, path, Calibration(values), weight_type=types[weights], quant_format=QuantFormat[layout],
                            activation_type=types[activations], **options)
            os.remove(ready)
        return reference_of(folder, name)
    return make


def quantized_models():
    for base, form in (("resnet18", "QDQ"), ("resnet50", "QDQ"), ("mobilenet_v2", "QDQ"), ("shufflenet_v2_x1_0", "QDQ"), ("bert", "QDQ"),
                       ("squeezenet1_1", "QOperator"), ("resnet18", "QOperator"), ("bert", "dynamic"), ("gpt", "dynamic"),
                       ("lstm", "dynamic"), ("speech_encoder", "dynamic"), ("llama", "4 bits")):
        name = f"{base}_{form.lower().replace('4 bits', '4bit')}"
        MADE[name] = Made("quantized, " + form, quantized(base, form), MADE[base].inputs, quantized=True)


torch_models()
small_models()
learned_models()
quantized_models()


def inputs_path(folder, name, batch):
    return os.path.join(folder, f"{name}.{batch}.npz")


def complete(folder, name):
    last = inputs_path(folder, name, OTHER)
    return os.path.exists(last) and os.path.exists(os.path.join(folder, name + ".onnx"))


def one(name, folder):
    """Writes a model and its inputs; the inputs last, so that they say that all is there."""
    about = MADE[name]
    compute = about.make(folder, name)
    sets = {**{b: about.inputs(b) for b in about.batches}, OTHER: about.inputs(None)}
    for batch, given in sets.items():
        outputs = [np.asarray(y) for y in compute(given)] if given else []
        for y in outputs[:1] if given else ():
            if y.dtype.kind == "f" and y.size > 1 and not (np.isfinite(y).all() and y.std() > 1e-5 * np.abs(y).max()):
                raise ValueError(f"{name}: outputs {y.ravel()[:5]} are no good for a comparison")
        np.savez(inputs_path(folder, name, batch), **{"in_" + k: v for k, v in (given or {}).items()},
                 **{f"out_{i}": y for i, y in enumerate(outputs)})


def names_like(pattern):
    """Of `pattern`, words with commas between: names, parts of names, or with * and ?."""
    if not pattern:
        return list(MADE)
    found = [n for n in MADE if any(fnmatch.fnmatch(n, w) or (w in n and w not in MADE) for w in pattern.split(","))]
    if not found:
        raise SystemExit(f"--only {pattern}: no such model; accepted: {', '.join(MADE)}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--only", help="names, or parts of names, with commas between")
    parser.add_argument("--again", action="store_true", help="also those that are there")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    os.makedirs(args.folder, exist_ok=True)
    missing = [n for n in names_like(args.only) if args.again or not complete(args.folder, n)]
    failed = []
    for name in missing:
        try:
            one(name, args.folder)
            print("made", name, flush=True)   # the runner counts these lines
        except Exception:   # of any of the packages; the others are made all the same
            failed.append(name)
            traceback.print_exc()
    if failed:
        raise SystemExit(f"not made: {', '.join(failed)}")


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
