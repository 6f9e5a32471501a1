"""TensorFlow's files in the corpus: Keras' nets and layers by its own exporter, functions with
loops, branches, lists and picture operators by tf2onnx, and TFLite files, quantized ones too."""
import os

import numpy as np

import onnx_models
from onnx_models import Made, draw, images

NETS = {"MobileNet": 128, "MobileNetV2": 128, "MobileNetV3Small": 128, "MobileNetV3Large": 128, "EfficientNetV2B0": 128,
        "DenseNet121": 128, "ResNet50": 128, "ResNet50V2": 128, "InceptionV3": 139, "InceptionResNetV2": 139,
        "Xception": 128, "NASNetMobile": 224, "VGG16": 64}
BARE = ("EfficientNetV2B0",)   # without their preprocessing, whose constants the exporter leaves out


def photos(size, channels=3):
    return lambda batch: {"x": np.ascontiguousarray(images((batch or 3, channels, size, size)).transpose(0, 2, 3, 1))}


def numbers(*shape, free=0):
    """The first size varies, or those of `free` too."""
    def inputs(batch):
        sizes = [n if batch or i >= free else n + 3 for i, n in enumerate(shape)]
        return {"x": draw("numbers", sizes).normal(size=[batch or 3, *sizes]).astype("float32")}
    return inputs


def integers(most, *shape, free=0):
    def inputs(batch):
        sizes = [n if batch or i >= free else n + 3 for i, n in enumerate(shape)]
        return {"x": draw("integers", sizes).integers(0, most, [batch or 3, *sizes]).astype("int32")}
    return inputs


def keras_and_tensorflow():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import keras
    import tensorflow
    keras.utils.set_random_seed(0)
    return keras, tensorflow


def shaken(model):
    """Weights that begin as nothing, such as biases and the statistics of BatchNormalization."""
    rng = draw("weights")
    for v in model.weights:
        value = np.asarray(v)
        if value.dtype.kind == "f" and value.size and value.min() == value.max():
            v.assign(value + rng.uniform(0.0, 0.2, value.shape))
    return model


def check(path):
    """tf2onnx leaves operators that it does not know, and says so in a log."""
    import onnx
    known = {s.name for s in onnx.defs.get_all_schemas() if not s.domain}

    def kinds(graph):
        inner = [kinds(a.g) for n in graph.node for a in n.attribute if a.HasField("g")]
        return {n.op_type for n in graph.node if not n.domain}.union(*inner)
    left = kinds(onnx.load(path).graph) - known
    if left:
        raise ValueError(f"left as TensorFlow's: {', '.join(sorted(left))}")


def layers(build, inputs):
    """keras: a model of build(keras, tensor), by Keras' exporter."""
    def make(folder, name):
        keras, tf = keras_and_tensorflow()
        first, other = inputs(1)["x"], inputs(None)["x"]
        shape = [n if n == m else None for n, m in zip(first.shape, other.shape)][1:]
        x = keras.Input(shape, dtype=str(first.dtype), name="x")
        model = shaken(keras.Model(x, build(keras, x)))
        model(first)
        path = os.path.join(folder, name + ".onnx")
        model.export(path, format="onnx", verbose=False)
        check(path)
        return lambda given: [np.asarray(y) for y in tf.nest.flatten(model(given["x"]))]
    return make


def function(call, inputs, opset):
    """A function of tensors, by tf2onnx."""
    def make(folder, name):
        _, tf = keras_and_tensorflow()
        import tf2onnx
        first, other = inputs(1), inputs(None)
        signature = [tf.TensorSpec([n if n == m else None for n, m in zip(v.shape, other[k].shape)], v.dtype, name=k)
                     for k, v in first.items()]
        made = tf.function(lambda *x: call(tf, *x), input_signature=signature)
        path = os.path.join(folder, name + ".onnx")
        tf2onnx.convert.from_function(made, input_signature=signature, opset=opset, output_path=path)
        check(path)
        return lambda given: [np.asarray(y) for y in tf.nest.flatten(made(*(tf.constant(v) for v in given.values())))]
    return make


def lite(build, inputs, form, opset=15):
    """A TFLite file of a Keras model, which tf2onnx reads."""
    def make(folder, name):
        keras, tf = keras_and_tensorflow()
        import tf2onnx
        first = inputs(1)["x"]
        x = keras.Input(first.shape[1:], batch_size=1, dtype=str(first.dtype), name="x")
        model = shaken(keras.Model(x, build(keras, x)))
        converter = tf.lite.TFLiteConverter.from_keras_model(model)
        if form != "float32":
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if form == "float16":
            converter.target_spec.supported_types = [tf.float16]
        if form.startswith("int8"):
            converter.representative_dataset = lambda: ([x[None]] for x in inputs(8)["x"])
            converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        if form.endswith("out"):
            converter.inference_input_type = converter.inference_output_type = tf.int8
        path = os.path.join(folder, name + ".tflite")
        with open(path, "wb") as f:
            f.write(converter.convert())
        tf2onnx.convert.from_tflite(path, opset=opset, output_path=os.path.join(folder, name + ".onnx"))
        os.remove(path)
        return onnx_models.reference_of(folder, name)
    return make


# Keras' layers.

def about_gelu(x):
    import keras
    return keras.activations.gelu(x, approximate=True)   # tf2onnx has none for Erfc



def convolutions(k, x):
    y = k.layers.SeparableConv2D(8, 3, strides=2, padding="same", activation="swish")(x)
    y = k.layers.DepthwiseConv2D(3, depth_multiplier=2, dilation_rate=2, padding="same")(y)
    y = k.layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="leaky_relu")(y)
    y = k.layers.GroupNormalization(4)(k.layers.PReLU(shared_axes=[1, 2])(y))
    y = k.layers.concatenate([k.layers.MaxPooling2D(3, 2, padding="same")(y), k.layers.AveragePooling2D(3, 2, padding="same")(y)])
    return k.layers.Conv2D(4, 5, strides=3, padding="same", activation=about_gelu)(k.layers.ZeroPadding2D(((1, 0), (2, 1)))(y))


def volumes(k, x):
    y = k.layers.Conv3D(4, 3, strides=2, padding="same", activation="relu")(x)
    y = k.layers.MaxPooling3D(2)(k.layers.Conv3DTranspose(4, 3, strides=2, padding="same")(y))
    return k.layers.GlobalAveragePooling3D()(k.layers.UpSampling3D(2)(k.layers.ZeroPadding3D(1)(y)))


def lines(k, x):
    y = k.layers.Conv1D(8, 5, padding="causal", dilation_rate=2, activation="elu")(x)
    y = k.layers.Conv1DTranspose(8, 4, strides=2, padding="same")(k.layers.SeparableConv1D(8, 3, activation="selu")(y))
    return k.layers.GlobalMaxPooling1D()(k.layers.AveragePooling1D(3)(k.layers.UpSampling1D(3)(k.layers.Cropping1D(2)(y))))


def recurrent(kind, **options):
    def build(k, x):
        y = k.layers.Embedding(50, 16, mask_zero=options.get("mask", False))(x) if len(x.shape) == 2 else x
        made = getattr(k.layers, kind)(12, return_sequences=True, **{n: v for n, v in options.items() if n not in ("mask", "both")})
        y = (k.layers.Bidirectional(made) if options.get("both") else made)(y)
        return k.layers.Dense(3)(getattr(k.layers, kind)(8)(y))
    return build


def transformer(k, x):
    y = k.layers.Embedding(100, 32)(x)
    a = k.layers.MultiHeadAttention(4, 8)(y, y, use_causal_mask=True)
    y = k.layers.LayerNormalization(epsilon=1e-6)(y + a)
    y = k.layers.LayerNormalization()(y + k.layers.Dense(32)(k.layers.Dense(64, activation=about_gelu)(y)))
    return k.layers.Dense(100, activation="softmax")(y)


def plain_transformer(k, x):
    y = k.layers.Embedding(100, 32)(x)
    y = k.layers.LayerNormalization(epsilon=1e-6)(y + k.layers.MultiHeadAttention(4, 8)(y, y))
    return k.layers.Dense(100)(k.layers.LayerNormalization()(y + k.layers.Dense(32)(k.layers.Dense(64, activation="relu")(y))))


def resized(kind):
    def build(k, x):
        y = k.layers.Resizing(21, 45, interpolation=kind)(x)
        return k.layers.Rescaling(1 / 3, 0.2)(k.layers.UpSampling2D(2, interpolation=kind)(y))
    return build


def norms(k, x):
    y = k.layers.BatchNormalization()(k.layers.Dense(16)(x))
    y = k.layers.UnitNormalization()(k.layers.RMSNormalization()(y))
    return k.layers.Dense(4, activation="hard_sigmoid")(k.layers.SpectralNormalization(k.layers.Dense(8, activation="mish"))(y))


LAYERS = {
    "convolutions": (convolutions, photos(33)), "volumes": (volumes, numbers(8, 10, 12, 2)), "lines": (lines, numbers(40, 3)),
    "lstm": (recurrent("LSTM"), numbers(10, 6, free=1)), "lstm_both": (recurrent("LSTM", both=True), integers(50, 12, free=1)),
    "lstm_mask": (recurrent("LSTM", mask=True), integers(50, 12)), "lstm_relu": (recurrent("LSTM", activation="relu"), numbers(10, 6)),
    "lstm_back": (recurrent("LSTM", go_backwards=True), numbers(10, 6)), "gru": (recurrent("GRU"), numbers(10, 6, free=1)),
    "gru_before": (recurrent("GRU", reset_after=False), numbers(10, 6)), "gru_both": (recurrent("GRU", both=True), integers(50, 12)),
    "simple": (recurrent("SimpleRNN"), numbers(10, 6)), "unrolled": (recurrent("LSTM", unroll=True), numbers(6, 6)),
    "conv_lstm": (lambda k, x: k.layers.ConvLSTM2D(4, 3, padding="same")(x), numbers(4, 8, 9, 3)),
    "transformer": (transformer, integers(100, 16, free=1)), "norms": (norms, numbers(12)),
    "nearest": (resized("nearest"), photos(32)), "bilinear": (resized("bilinear"), photos(32)), "bicubic": (resized("bicubic"), photos(32)),
    "lanczos": (lambda k, x: k.layers.Resizing(40, 40, interpolation="lanczos3")(x), photos(32)),
    "area": (lambda k, x: k.layers.Resizing(16, 8, interpolation="area")(x), photos(32)),
    "crop": (lambda k, x: k.layers.CenterCrop(20, 24)(k.layers.Cropping2D((2, 1))(x)), photos(32)),
    "attention": (lambda k, x: k.layers.AdditiveAttention()([x, x]) + k.layers.Attention(use_scale=True)([x, x]), numbers(6, 8, free=1)),
    "products": (lambda k, x: k.layers.Dot((1, 1))([x, k.layers.Permute((1, 2))(x)]), numbers(6, 8)),
    "encoding": (lambda k, x: k.layers.CategoryEncoding(20, output_mode="multi_hot")(x), integers(20, 7)),
    "buckets": (lambda k, x: k.layers.Discretization([-1.0, 0.0, 0.5])(x), numbers(7)),
    "einsum": (lambda k, x: k.layers.EinsumDense("abc,cd->abd", (None, 5), bias_axes="d")(x), numbers(6, 8, free=1)),
}


# Functions.

def loop(tf, x):
    return tf.while_loop(lambda i, a: i < tf.shape(x)[1], lambda i, a: (i + 1, a * 0.5 + x[:, i]), (0, tf.zeros_like(x[:, 0])))[1]


def until(tf, x):
    return tf.while_loop(lambda a: tf.reduce_max(tf.abs(a)) > 0.1, lambda a: (a * 0.7,), (x,))[0]


def list_loop(tf, x):
    found = tf.TensorArray(tf.float32, size=tf.shape(x)[1])
    _, found, _ = tf.while_loop(lambda i, *_: i < tf.shape(x)[1],
                                lambda i, f, s: (i + 1, f.write(i, tf.tanh(s + x[:, i])), tf.tanh(s + x[:, i])),
                                (0, found, tf.zeros_like(x[:, 0])))
    return tf.transpose(found.stack(), [1, 0, 2])


def growing(tf, x):
    return tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.concat([a, x * tf.cast(i, tf.float32)], 1)), (0, x),
                         shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, None])))[1]


def branch(tf, x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.relu(x) + 1, lambda: tf.cond(tf.shape(x)[0] > 2, lambda: -x, lambda: x * 3))


def suppressed(tf, x):
    corners = tf.abs(x[0])
    boxes = tf.concat([corners[:, :2], corners[:, :2] + corners[:, 2:4]], 1)
    kept = tf.image.non_max_suppression(boxes, corners[:, 4], 5, 0.3)
    return tf.gather(boxes, kept), kept


def cropped(tf, x):
    return tf.image.crop_and_resize(x, [[0.1, 0.2, 0.8, 0.9], [0.0, 0.5, 1.1, 0.4]], [0, 0], [7, 9])


def spectrum(tf, x):
    return tf.abs(tf.signal.stft(x, 16, 8, 16))


def resize(method, **options):
    return lambda tf, x: tf.image.resize(x, (19, 50), method, **options)


def scattered(tf, x):
    rows = tf.constant([[0], [2], [4]])
    y = tf.tensor_scatter_nd_update(tf.transpose(x), rows, tf.transpose(x)[:3] * 2)
    return tf.tensor_scatter_nd_add(y, rows, tf.transpose(x)[:3]) + tf.scatter_nd(rows, tf.transpose(x)[3:6], tf.shape(y))


def chosen(tf, x):
    values, places = tf.nn.top_k(x, 3)
    return values, places, tf.argsort(x, direction="DESCENDING"), tf.boolean_mask(x, x > 0.3), tf.where(x > 0.5)


def slices(tf, x):
    return x[:, ::-2, tf.newaxis, 1:-1], x[..., 2], x[:, -3:], tf.roll(x, 2, 1), tf.reverse(x, [1, 2])


def blocks(tf, x):
    y = tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]])
    return tf.batch_to_space(tf.nn.relu(y), [2, 2], [[0, 0], [1, 1]]), tf.nn.space_to_depth(x, 2), tf.nn.depth_to_space(x, 2)


def matrices(tf, x):
    return tf.linalg.band_part(x, 2, 1), tf.linalg.diag_part(x), tf.linalg.diag(x[:, 0]), tf.einsum("abc,adc->abd", x, x), \
        tf.linalg.matmul(x, x, transpose_b=True), tf.linalg.set_diag(x, x[:, 0])


def counted(tf, x):
    values, places = tf.unique(tf.reshape(x, [-1]))
    return values, places, tf.cumsum(x, 1, exclusive=True, reverse=True), tf.one_hot(x, 20, 2.0, -1.0), \
        tf.math.segment_sum(tf.cast(x[0], tf.float32), tf.constant([0, 0, 1, 2, 2, 2, 3, 5]))


def reversed_rows(tf, x):
    return tf.reverse_sequence(x, tf.minimum(tf.range(tf.shape(x)[0]) + 2, 5), seq_axis=1)


def mapped(tf, x):
    return tf.map_fn(lambda row: tf.reduce_logsumexp(row) * row, x), tf.scan(lambda a, row: a * 0.5 + row, x)


def pointwise(tf, x):
    return tf.nn.gelu(x, approximate=True), tf.math.floormod(x, 0.7), tf.math.erf(x), tf.nn.log_softmax(x), tf.math.atan2(x, x + 1), \
        tf.sign(x), tf.math.divide_no_nan(x, tf.nn.relu(x)), tf.math.squared_difference(x, 1.0), tf.math.softplus(x), \
        tf.clip_by_value(x, -0.5, 0.5), \
        tf.math.reduce_variance(x, 1), tf.round(x * 3), tf.math.xlogy(tf.abs(x), 2.0), tf.nn.l2_normalize(x, 1), tf.nn.crelu(x)


def padded(tf, x):
    edges = [[0, 0], [1, 2], [3, 0]]
    return tf.pad(x, edges, "REFLECT"), tf.pad(x, edges, "SYMMETRIC"), tf.pad(x, edges, constant_values=7.0), \
        tf.tile(x, [1, 2, 3]), tf.broadcast_to(x[:, :1], tf.shape(x)), tf.stack(tf.unstack(x, axis=1), 2)


FUNCTIONS = {
    "loop": (loop, numbers(6, 4, free=1)), "until": (until, numbers(4)), "list": (list_loop, numbers(6, 4, free=1)),
    "growing": (growing, numbers(5)), "branch": (branch, numbers(5)), "suppressed": (suppressed, numbers(12, 5)),
    "cropped": (cropped, photos(24)), "spectrum": (spectrum, numbers(64)), "scattered": (scattered, numbers(8)),
    "chosen": (chosen, numbers(9)), "slices": (slices, numbers(7, 6)), "blocks": (blocks, photos(12, 8)),
    "matrices": (matrices, numbers(6, 6)),
    "counted": (counted, integers(20, 8)), "reversed": (reversed_rows, numbers(6, 4)), "mapped": (mapped, numbers(5)),
    "pointwise": (pointwise, numbers(9)), "padded": (padded, numbers(6, 5)),
    **{"resize_" + m: (resize(m), photos(32)) for m in ("bilinear", "nearest", "bicubic", "area", "lanczos3", "gaussian", "mitchellcubic")},
    "resize_antialias": (resize("bilinear", antialias=True), photos(64)),
    "old_bilinear": (lambda tf, x: tf.compat.v1.image.resize_bilinear(x, (20, 50)), photos(32)),
    "old_corners": (lambda tf, x: tf.compat.v1.image.resize_bilinear(x, (20, 50), align_corners=True), photos(32)),
    "old_nearest": (lambda tf, x: tf.compat.v1.image.resize_nearest_neighbor(x, (20, 50)), photos(32)),
    "old_bicubic": (lambda tf, x: tf.compat.v1.image.resize_bicubic(x, (20, 50)), photos(32)),
}
FORMS = ("float32", "float16", "dynamic", "int8", "int8 inside and out")


def small(k, x):
    y = x
    for width, stride in ((8, 2), (16, 2), (16, 1)):
        z = k.layers.DepthwiseConv2D(3, strides=stride, padding="same", activation="relu6")(k.layers.Conv2D(width, 1)(y))
        y = z if stride > 1 else k.layers.add([y, z])
    y = k.layers.concatenate([k.layers.MaxPooling2D(2)(y), k.layers.AveragePooling2D(2)(y)])
    y = k.layers.UpSampling2D(2, interpolation="bilinear")(k.layers.Activation("hard_swish")(y))
    return k.layers.Dense(10, activation="softmax")(k.layers.GlobalAveragePooling2D()(y))


def files(corpus):
    def add(name, family, make, inputs, **options):
        corpus["tensorflow." + name] = family, Made(family, make, inputs, (1,), **options)
    for name, size in NETS.items():
        options = {"include_preprocessing": False} if name in BARE else {}
        build = lambda k, x, name=name, options=options: getattr(k.applications, name)(weights=None, input_tensor=x, classes=100,
                                                                                       **options).output
        add(name, "Keras, nets", layers(build, photos(size)), photos(size))
    for name, (build, inputs) in LAYERS.items():
        add("layers_" + name, "Keras, layers", layers(build, inputs), inputs)
    for name, (call, inputs) in FUNCTIONS.items():
        for opset in (9, 11, 13, 18):
            add(f"{name}_{opset}", "TensorFlow, functions", function(call, inputs, opset), inputs)
    def once(inputs, form):
        """One shape; bytes where the file wants them."""
        def given(batch):
            x = inputs(batch)["x"] if batch else None
            bytes_ = x is not None and form.endswith("out") and x.dtype.kind == "f"
            return None if x is None else {"x": (30 * x).clip(-128, 127).astype("int8") if bytes_ else x}
        return given
    for form in FORMS:
        word = form.replace(" ", "_")
        add("lite_small_" + word, "TFLite, " + form, lite(small, photos(32), form), once(photos(32), form), quantized="int8" in form,
            half=form == "float16")
        net = lambda k, x: k.applications.MobileNetV2(weights=None, input_tensor=x, classes=100).output
        add("lite_MobileNetV2_" + word, "TFLite, " + form, lite(net, photos(128), form), once(photos(128), form), quantized="int8" in form,
            half=form == "float16")
        add("lite_transformer_" + word, "TFLite, " + form, lite(plain_transformer, integers(100, 16), form), once(integers(100, 16), form),
            quantized="int8" in form, half=form == "float16")
