"""What exporters write: the files of `./dev bench onnx_corpus`, by family, and what onnxruntime
computes of them. Runs in the peers' interpreter; packages that it lacks leave their families out.
The nets of onnx_models.py are among them; here are the rest of the packages' nets."""
import argparse
import importlib
import importlib.util
import inspect
import json
import os
import re
import sys
import warnings

import numpy as np

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))   # onnx_models and what it needs
import onnx_corpus_forms
import onnx_corpus_merged
import onnx_corpus_more
import onnx_corpus_newer
import onnx_corpus_older
import onnx_corpus_options
import onnx_corpus_paddle
import onnx_corpus_pictures
import onnx_corpus_reworked
import onnx_corpus_sounds
import onnx_corpus_tables
import onnx_corpus_tensorflow
import onnx_corpus_transformers
import onnx_corpus_written
import onnx_models
from onnx_models import Made, draw, exported, images

PACKAGES = ("torch", "torchvision", "timm", "transformers", "sklearn", "skl2onnx", "xgboost",
            "lightgbm", "onnxmltools", "onnxruntime", "torchaudio", "paddle", "paddle2onnx",
            "tensorflow", "keras", "tf2onnx", "ultralytics", "diffusers", "optimum", "catboost",
            "hummingbird", "pandas", "onnxscript", "onnxsim", "onnxslim", "onnxoptimizer")
EXTRA = {"googlenet": {"init_weights": False, "aux_logits": False}, "inception_v3": {"init_weights": False, "aux_logits": False}}
KNOWN = ("ssdlite320_mobilenet_v3_large", "fasterrcnn_mobilenet_v3_large_320_fpn")   # onnx_models.py has them by other names
CORPUS = {}   # name -> (family, Made)
LARGEST = float("inf")   # parameters of a net that is made


def has(*packages):
    return all(importlib.util.find_spec(p) for p in packages)


def add(name, family, build, inputs, both=True, **options):
    """A net by both of torch's exporters, as a file each, or by the older one."""
    def small_enough():
        net = build()
        count = sum(p.numel() for p in net.parameters())
        if count > LARGEST:
            raise ValueError(f"left out: {count / 1e6:.0f} million parameters")
        return net
    for made, dynamo in ((name, False), (name + "_dynamo", True)):
        if made not in CORPUS and (both or not dynamo) and not (dynamo and options.get("free", "n") is None):
            CORPUS[made] = family, Made(family, exported(small_enough, inputs, dynamo=dynamo, **options), inputs, (1,))


# torch.

def clips(frames, size):
    def inputs(batch):
        n = batch or 2
        return {"x": np.stack([images((n, 3, size, size), f"frame {t}") for t in range(frames)], 2)}
    return inputs


def torchvision_files():
    import torchvision.models as models
    listed = lambda module: models.list_models(module=module)
    for name in listed(models):
        add(name, "torchvision classification", onnx_models.vision(name, **EXTRA.get(name, {})),
            onnx_models.photos(299 if name == "inception_v3" else 224))
    for name in listed(models.segmentation):
        add(name, "torchvision segmentation", onnx_models.segmentation(name), onnx_models.photos(128))
    for name in listed(models.video):
        frames, size = (16, 224) if name.startswith("mvit") else (14 if name == "s3d" else 8, 224 if name == "s3d" else 112)
        add(name, "torchvision video", video(name), clips(frames, size))
    for name in listed(models.detection):
        if name not in KNOWN:
            add(name, "torchvision detection", onnx_models.detector(name, **({} if "retina" in name or "fcos" in name or "ssd" in name
                                                                            else {"box_score_thresh": 0.0, "num_classes": 5})),
                onnx_models.photo(300 if "ssd" in name else 320), outputs=3, free=None)


def video(name):
    def build():
        import torchvision
        return getattr(torchvision.models.video, name)(weights=None)
    return build


def timm_files():
    """The smallest net of each of its modules, going by the names."""
    import timm
    sizes = ("test_", "atto", "femto", "pico", "nano", "xxs", "xx_small", "xxsmall", "x_small", "xsmall", "xs", "_t0", "tiny", "_t_",
             "small", "mini", "050", "_s", "b0", "18", "26", "34", "50", "base")

    def rank(name):
        return next((i for i, word in enumerate(sizes) if word in name), len(sizes)), len(name), name
    for module in timm.list_modules():
        names = timm.list_models(module=module)
        if not names:
            continue
        name = min(names, key=rank)
        size = timm.get_pretrained_cfg(name).input_size if timm.is_model_pretrained(name) else (3, 224, 224)
        add("timm." + name, "timm", lambda name=name: timm.create_model(name, pretrained=False), onnx_models.photos(size[-1], size[0]))


# Tables.

def needed(kind):
    """Arguments without defaults, and some that keep the fit short."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.preprocessing import StandardScaler
    regresses = kind.__name__.endswith("Regressor") or kind.__name__.startswith("Regressor")
    one = Ridge() if regresses else LogisticRegression(max_iter=300)
    known = {"estimator": one, "estimators": [("a", one), ("b", type(one)())], "base_estimator": one,
             "transformers": [("a", StandardScaler(), [0, 1])],
             "transformer_list": [("a", StandardScaler())], "steps": [("a", StandardScaler()), ("b", one)], "param_grid": {},
             "param_distributions": {}, "n_components": 2, "max_iter": 300, "n_estimators": 20, "random_state": 0}
    given = {}
    for name, parameter in inspect.signature(kind.__init__).parameters.items():
        wanted = parameter.default is inspect.Parameter.empty and name in known and name != "n_components"
        if wanted or (name in ("n_estimators", "random_state") and parameter.default is not inspect.Parameter.empty):
            given[name] = known[name]
        if (name, parameter.default) in (("n_components", "auto"), ("encode", "onehot")):   # more than there is, and sparse
            given[name] = 2 if name == "n_components" else "ordinal"
    return given


def table(kind):
    """Data that such a learner takes."""
    import sklearn.base
    import sklearn.datasets
    name = kind.__name__
    if "Vectorizer" in name or name == "TfidfTransformer":
        texts = np.array([f"{a} {b} word {a * b % 7} and {c}" for a, b, c in draw("texts").integers(0, 9, (60, 3))])
        return (texts, None) if name != "TfidfTransformer" else (draw("counts").integers(0, 5, (60, 6)).astype("float32"), None)
    regresses = issubclass(kind, sklearn.base.RegressorMixin) or name.endswith("Regressor")
    x, y = (sklearn.datasets.load_diabetes if regresses else sklearn.datasets.load_iris)(return_X_y=True)
    x = x.astype("float32")
    if name in ("GammaRegressor", "PoissonRegressor", "TweedieRegressor"):
        y = y / 100
    if name.startswith("MultiTask") or name in ("MultiOutputRegressor", "RegressorChain", "CCA", "PLSCanonical", "PLSSVD"):
        y = np.stack([y, y[::-1]], 1)
    if name == "GaussianProcessClassifier":   # the converter takes two classes
        y = (y > 0).astype(int)
    if name in ("MultiOutputClassifier", "ClassifierChain"):
        y = np.stack([y > 0, y > 1], 1).astype(int)
    if name in ("BernoulliNB", "CategoricalNB", "OrdinalEncoder", "OneHotEncoder", "TargetEncoder"):
        x = np.round(x)
    if name in ("LabelEncoder", "LabelBinarizer"):
        x = y
    if name == "IsotonicRegression":
        x = x[:, :1]
    return x, y


def learner(kind, convert):
    def make(folder, name):
        x, y = table(kind)
        model = kind(**needed(kind)) if kind.__module__.startswith("sklearn") else kind(n_estimators=20)
        model.fit(*((x, y) if y is not None and x is not y else (x,)))
        convert(model, x, os.path.join(folder, name + ".onnx"))
        return onnx_models.reference_of(folder, name)

    def inputs(batch):
        x, _ = table(kind)
        given = x[5:5 + (batch or 3)]
        return {"X": given[:, None] if given.ndim == 1 else np.ascontiguousarray(given)}
    return make, inputs


def by_skl2onnx(model, x, path):
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType
    from sklearn.base import is_classifier
    kinds = {"U": StringTensorType, "i": Int64TensorType}
    typed = [("X", kinds[x.dtype.kind]([None, 1]))] if x.dtype.kind in kinds else None
    given = {"X": None if typed else x[:1], "initial_types": typed, "target_opset": {"": 18, "ai.onnx.ml": 3}}
    try:
        made = to_onnx(model, options={id(model): {"zipmap": False}} if is_classifier(model) else None, **given)
    except NameError:   # some have no such option
        made = to_onnx(model, **given)
    with open(path, "wb") as f:
        f.write(made.SerializeToString())


def sklearn_files():
    from skl2onnx._supported_operators import sklearn_operator_name_map
    for kind in sorted(sklearn_operator_name_map, key=lambda k: k.__name__):
        if inspect.isclass(kind) and kind.__module__.startswith("sklearn"):
            CORPUS["sklearn." + kind.__name__] = "scikit-learn", Made("scikit-learn", *learner(kind, by_skl2onnx), (1,))


def by_onnxmltools(converter):
    def convert(model, x, path):
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType
        made = getattr(onnxmltools, converter)(model, initial_types=[("X", FloatTensorType([None, x.shape[1]]))])
        with open(path, "wb") as f:
            f.write(made.SerializeToString())
    return convert


def boosted_files(package, *kinds):
    convert = by_onnxmltools("convert_" + package)
    for kind in kinds:
        CORPUS[f"{package}.{kind}"] = package, Made(package, *learner(getattr(importlib.import_module(package), kind), convert), (1,))


def by_catboost(model, x, path):
    model.save_model(path, format="onnx")


def catboost_files():
    import catboost
    for kind in (catboost.CatBoostClassifier, catboost.CatBoostRegressor):
        quiet = type(kind.__name__, (kind,), {"__init__": lambda self, n_estimators=20, kind=kind: kind.__init__(
            self, n_estimators=n_estimators, verbose=False, allow_writing_files=False)})
        CORPUS["catboost." + kind.__name__] = "catboost", Made("catboost", *learner(quiet, by_catboost), (1,))


def by_hummingbird(model, x, path):
    """Trees and others as products of matrices."""
    import functools

    import hummingbird.ml
    import onnx
    import torch
    torch.onnx.export = functools.partial(torch.onnx.export, dynamo=False)   # it is written for that
    onnx.save(hummingbird.ml.convert(model, "onnx", x[:8], extra_config={"batch_size": 8}).model, path)


def hummingbird_files():
    import sklearn.ensemble
    import sklearn.linear_model
    import sklearn.preprocessing
    import sklearn.svm
    import sklearn.tree
    for module, names in ((sklearn.ensemble, ("RandomForestClassifier", "RandomForestRegressor", "GradientBoostingClassifier",
                                              "ExtraTreesRegressor", "HistGradientBoostingRegressor", "IsolationForest")),
                          (sklearn.tree, ("DecisionTreeClassifier", "DecisionTreeRegressor")), (sklearn.svm, ("SVC", "LinearSVC")),
                          (sklearn.linear_model, ("LogisticRegression", "LinearRegression")),
                          (sklearn.preprocessing, ("StandardScaler", "KBinsDiscretizer", "PolynomialFeatures"))):
        for name in names:
            CORPUS["hummingbird." + name] = "hummingbird", Made("hummingbird", *learner(getattr(module, name), by_hummingbird), (1,))


# Other forms of onnx_models.py's classifiers.

def optimized(base):
    def make(folder, name):
        import onnxruntime
        onnx_models.one(base, folder)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.optimized_model_filepath = os.path.join(folder, name + ".onnx")
        onnxruntime.InferenceSession(os.path.join(folder, base + ".onnx"), options, providers=["CPUExecutionProvider"])
        return onnx_models.reference_of(folder, name)
    return make


def float16(base):
    def make(folder, name):
        import onnx
        from onnxruntime.transformers.float16 import convert_float_to_float16
        onnx_models.one(base, folder)
        onnx.save(convert_float_to_float16(onnx.load(os.path.join(folder, base + ".onnx")), keep_io_types=True),
                  os.path.join(folder, name + ".onnx"))
        return onnx_models.reference_of(folder, name)
    return make


def forms():
    for base, about in list(onnx_models.MADE.items()):
        if about.kind != "classification" or base.endswith("_dynamo"):
            continue
        for form in (*onnx_models.FORMS, "dynamic", "dynamic, U8"):
            name = base + "_" + form.lower().replace(", ", "_").replace(" ", "_")
            made = Made(form, onnx_models.quantized(base, form), about.inputs, (1,), quantized=True)
            CORPUS.setdefault(name, ("quantized, " + form, made))
        CORPUS.setdefault(base + "_half", ("float16", Made("float16", float16(base), about.inputs, (1,), half=True)))
        CORPUS.setdefault(base + "_optimized", ("onnxruntime's optimizer", Made("optimized", optimized(base), about.inputs, (1,))))


def own_files():
    for name, m in onnx_models.MADE.items():
        kind = "torchvision " + m.kind if m.kind in ("classification", "detection", "segmentation") else m.kind
        CORPUS[name] = kind, Made(kind, m.make, m.inputs, m.batches[:1], m.quantized, m.half)
    torchvision_files()
    forms()


def transformers_forms():
    onnx_corpus_transformers.files(add)
    onnx_corpus_forms.files(CORPUS)


def reworked_files():
    onnx_corpus_sounds.files(CORPUS, add)
    onnx_corpus_more.files(CORPUS, add)
    if has("torchaudio"):
        onnx_corpus_sounds.torchaudio_nets(add)
    onnx_corpus_reworked.files(CORPUS)


# The beginning of the files' names: packages without which they are left out, and what lists them.
PARTS = {
    "timm.": (("torch", "torchvision", "timm", "onnxruntime"), timm_files),
    "transformers.": (("torch", "transformers", "onnxruntime"), lambda: onnx_corpus_transformers.files(add)),
    "newer.": (("torch", "transformers", "onnxruntime"), lambda: onnx_corpus_newer.files(add)),
    "forms.": (("torch", "transformers", "onnxruntime"), transformers_forms),
    "sklearn.": (("sklearn", "skl2onnx", "onnxruntime"), sklearn_files),
    "xgboost.": (("sklearn", "skl2onnx", "onnxmltools", "xgboost", "onnxruntime"),
                 lambda: boosted_files("xgboost", "XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor")),
    "lightgbm.": (("sklearn", "skl2onnx", "onnxmltools", "lightgbm", "onnxruntime"),
                  lambda: boosted_files("lightgbm", "LGBMClassifier", "LGBMRegressor")),
    "catboost.": (("sklearn", "catboost", "onnxruntime"), catboost_files),
    "hummingbird.": (("sklearn", "hummingbird", "skl2onnx", "onnxruntime"), hummingbird_files),
    "older.": (("torch", "torchvision", "transformers", "onnxruntime"), lambda: onnx_corpus_older.files(CORPUS)),
    "merged.": (("torch", "transformers", "optimum", "onnxruntime"), lambda: onnx_corpus_merged.files(CORPUS)),
    "pictures.": (("torch", "ultralytics", "onnxruntime"), lambda: onnx_corpus_pictures.detectors(CORPUS)),
    "diffusers.": (("torch", "diffusers", "onnxruntime"), lambda: onnx_corpus_pictures.parts(CORPUS, add)),
    "sounds.": (("torch", "onnxruntime"), lambda: onnx_corpus_sounds.files(CORPUS, add)),
    "more.": (("torch", "torchvision", "onnxruntime"), lambda: onnx_corpus_more.files(CORPUS, add)),
    "tables.": (("sklearn", "skl2onnx", "pandas", "onnxruntime"), lambda: onnx_corpus_tables.files(CORPUS)),
    "reworked.": (("torch", "torchvision", "onnxsim", "onnxslim", "onnxoptimizer", "onnxruntime"), reworked_files),
    "options.": (("torch", "onnxruntime"), lambda: onnx_corpus_options.files(CORPUS)),
    "written.": (("onnxscript", "onnxruntime"), lambda: onnx_corpus_written.files(CORPUS)),
    "paddle.": (("paddle", "paddle2onnx", "onnxruntime"), lambda: onnx_corpus_paddle.files(CORPUS)),
    "torchaudio.": (("torch", "torchaudio", "onnxruntime"), lambda: onnx_corpus_sounds.torchaudio_nets(add)),
    "tensorflow.": (("tensorflow", "keras", "tf2onnx", "onnxruntime"), lambda: onnx_corpus_tensorflow.files(CORPUS)),
    "": (("torch", "torchvision", "sklearn", "skl2onnx", "onnxruntime"), own_files)}


def fill(name=None):
    """Into CORPUS what the packages allow, or only the part that a file is of."""
    for begin, (packages, files) in PARTS.items():
        if (name is None or name.startswith(begin)) and has(*packages):
            files()
            if name is not None:
                return


# One file.

def save(path, feed, outputs):
    def plain(value):
        if isinstance(value, list) and value and isinstance(value[0], dict):   # of ZipMap: scores in the order of the labels
            value = [list(row.values()) for row in value]
        a = np.asarray(value)
        return a.astype("U") if a.dtype.kind == "O" else a
    np.savez(path, **{"in_" + k: plain(v) for k, v in feed.items()}, **{f"out_{i}": plain(y) for i, y in enumerate(outputs)})


def make(name, folder):
    """NAME.onnx, and NAME.1.npz and NAME.other.npz with inputs and what onnxruntime computes; where
    it refuses the file, what its maker does."""
    family, about = CORPUS[name]
    onnx_models.MADE.setdefault(name, about)
    compute = about.make(folder, name)
    path, answer = os.path.join(folder, name + ".onnx"), {}
    try:
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        inputs = [i.name for i in session.get_inputs()]
        text = lambda v: v.astype(object) if v.dtype.kind == "U" else v
        reference = lambda feed: session.run(None, {k: text(v) for k, v in feed.items()})
    except Exception as error:   # of the runtime's own kinds
        answer["refused"] = reason(error)
        inputs, reference = None, compute
    for batch, given in ((1, about.inputs(about.batches[0])), (onnx_models.OTHER, about.inputs(None))):
        if not given:
            continue
        if inputs and len(inputs) == len(given) == 1:
            given = {inputs[0]: next(iter(given.values()))}
        given = {k: v for k, v in given.items() if not inputs or k in inputs}   # exporters leave out what nothing reads
        try:
            results = reference(given)
        except Exception as error:
            if batch == 1:
                raise
            answer["fixed"] = reason(error)   # sizes of the first shape became numbers in the file
            continue
        save(onnx_models.inputs_path(folder, name, batch), given, results)
    if about.quantized:
        import onnx

        import onnx_steps
        model = onnx.load(path)
        onnx.save(onnx_steps.with_outputs(model, onnx_steps.steps(model)), path + ".steps")
    return answer


def judge(name, folder, shape):
    import onnx

    import onnx_steps
    given = np.load(onnx_models.inputs_path(folder, name, shape))
    values = np.load(os.path.join(folder, f"{name}.steps.{shape}.npz"))
    feed = {k[3:]: given[k] for k in given.files if k.startswith("in_")}
    return onnx_steps.judge(onnx.load(os.path.join(folder, name + ".onnx")), feed, {k: values[k] for k in values.files})


def reason(error):
    return re.sub(r"\x1b\[\d+m", "", " ".join(f"{type(error).__name__}: {error}".split()))[:300]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder")
    parser.add_argument("--make")
    parser.add_argument("--judge")
    parser.add_argument("--shape", default="1")
    parser.add_argument("--largest", type=float, default=float("inf"), help="millions of parameters")
    args = parser.parse_args()
    global LARGEST
    LARGEST = 1e6 * args.largest
    warnings.filterwarnings("ignore")
    fill(args.make or args.judge)
    if args.make or args.judge:
        try:
            answer = make(args.make, args.folder) if args.make else judge(args.judge, args.folder, args.shape)
        except Exception as error:   # of any of the packages
            answer = {"failed": reason(error)}
    else:
        answer = {"missing": [p for p in PACKAGES if not has(p)],
                  "files": {n: {"family": f, "quantized": m.quantized, "half": m.half} for n, (f, m) in CORPUS.items()}}
    print("\n" + json.dumps(answer), flush=True)
    os._exit(0)   # some packages' threads do not end


if __name__ == "__main__":
    main()
