"""Programs with Gluon on mx.np arrays, as users of MXNet 2.0 write them. Each gives names and
numbers; record_numpy_gluon.py writes down what 2.0.0b1 gives, test_numpy_gluon.py compares."""
import zlib

import numpy as onp

import mxnet as mx
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn, rnn


def values(name, shape, scale=0.3, low=None):
    """Numbers that follow from a name: normal ones, or uniform ones from `low` to 1."""
    state = onp.random.RandomState(zlib.crc32(name.encode()) % 100000)
    drawn = state.normal(size=shape) * scale if low is None else state.uniform(low, 1, size=shape)
    return np.array(drawn.astype("float32"))


def integers(name, shape, high, dtype="int32"):
    return np.array(onp.random.RandomState(zlib.crc32(name.encode()) % 100000).randint(0, high, size=shape), dtype=dtype)


def fill(net, scale=0.3):
    """Give the Parameters of `net` values that follow from their names in 2.0, where a recurrent
    layer has one vector."""
    shapes = {}
    for path, param in net._collect_params_with_prefix().items():
        if "_unfused." in path:
            path = path.split("_unfused.")[0] + "rnn_param"
            shapes[path] = (shapes.get(path, (0,))[0] + int(onp.prod(param.shape)),)
        else:
            shapes[path] = tuple(param.shape)
    positive = ("running_var", "gamma")
    net.load_dict({p: values(p, s, scale) if not p.endswith(positive) else values(p, s, low=0.5) for p, s in shapes.items()})


def told(array):
    """Class, dtype and shape of an array, with some of its numbers."""
    numbers = array.asnumpy().astype("float64").ravel()
    return [type(array).__module__, str(onp.dtype(array.dtype)), list(array.shape), [float(v) for v in numbers[:4]], float(numbers.sum())]


def train(net, batches, loss, optimizer, options, hybrid, forward=None):
    """The loss of every batch, and a Parameter at the end."""
    if hybrid:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), optimizer, options)
    losses = []
    for batch in batches:
        with autograd.record():
            value = loss(net(batch[0]), *batch[1:]) if forward is None else forward(net, *batch)
        value.backward()
        trainer.step(batch[0].shape[0])
        losses.append(float(value.mean()))
    return losses


def mlp(hybrid):
    net = nn.HybridSequential()
    net.add(nn.Flatten(), nn.Dense(16, activation="relu"), nn.Dropout(0.0), nn.Dense(4))
    net.initialize(mx.init.Xavier())
    net(np.zeros((2, 1, 5, 5)))
    fill(net)
    for param in net.collect_params(".*bias").values():
        param.wd_mult = 0
    batches = [(values(f"x{i}", (8, 1, 5, 5)), integers(f"y{i}", (8,), 4)) for i in range(4)]
    losses = train(net, batches, gluon.loss.SoftmaxCrossEntropyLoss(), "sgd", {"learning_rate": 0.5, "wd": 0.01}, hybrid)
    accuracy = gluon.metric.Accuracy()
    out = net(batches[0][0])
    accuracy.update(batches[0][1], out)
    hits = (out.argmax(axis=1).astype("int32") == batches[0][1]).sum()
    return {"losses": losses, "out": told(out), "accuracy": accuracy.get()[1], "hits": int(hits)}


def lenet(hybrid):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, kernel_size=5, padding=2), nn.BatchNorm(), nn.Activation("sigmoid"), nn.AvgPool2D(2, 2),
            nn.Conv2D(6, kernel_size=3), nn.BatchNorm(), nn.Activation("sigmoid"), nn.MaxPool2D(2, 2), nn.Dense(10), nn.Dense(3))
    net.initialize()
    net(np.zeros((1, 1, 12, 12)))
    fill(net)
    batches = [(values(f"x{i}", (6, 1, 12, 12)), integers(f"y{i}", (6,), 3)) for i in range(3)]
    losses = train(net, batches, gluon.loss.SoftmaxCrossEntropyLoss(), "sgd", {"learning_rate": 0.1}, hybrid)
    return {"losses": losses, "out": told(net(batches[0][0])), "mean": told(net[1].running_mean.data())}


class LanguageModel(nn.Block):
    """Characters in, one-hot, a recurrent layer, scores out."""

    def __init__(self, layer, size):
        super().__init__()
        self.rnn, self.size, self.dense = layer, size, nn.Dense(size)

    def forward(self, inputs, state):
        hot = npx.one_hot(inputs.T, self.size)
        out, state = self.rnn(hot, state)
        return self.dense(out.reshape(-1, out.shape[-1])), state

    def begin_state(self, *args, **kwargs):
        return self.rnn.begin_state(*args, **kwargs)


def language_model(hybrid):
    result = {}
    for name, layer in (("lstm", rnn.LSTM(8)), ("gru", rnn.GRU(8, num_layers=2)), ("rnn", rnn.RNN(8))):
        net = LanguageModel(layer, 11)
        net.initialize(mx.init.Normal(0.01))
        net(np.zeros((2, 5), dtype="int32"), net.begin_state(batch_size=2))
        fill(net)
        if hybrid:
            net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
        loss, losses = gluon.loss.SoftmaxCrossEntropyLoss(), []
        state = net.begin_state(batch_size=2)
        for i in range(3):
            for s in state:
                s.detach()
            x, y = integers(f"x{i}", (2, 5), 11), integers(f"y{i}", (2, 5), 11)
            with autograd.record():
                scores, state = net(x, state)
                value = loss(scores, y.T.reshape(-1)).mean()
            value.backward()
            norm = gluon.utils.clip_global_norm([p.grad() for p in net.collect_params().values()], 1.0)
            trainer.step(1)
            state = [s.detach() for s in state]
            losses += [float(value), float(norm)]
        result[name] = {"losses": losses, "state": told(state[0])}
    return result


def masked_softmax(scores, lengths):
    """Softmax along the last axis of the first `lengths` of the scores."""
    shape = scores.shape
    lengths = lengths.repeat(shape[1]) if lengths.ndim == 1 else lengths.reshape(-1)
    scores = npx.sequence_mask(scores.reshape(-1, shape[-1]), lengths, True, value=-1e6, axis=1)
    return npx.softmax(scores).reshape(shape)


class AdditiveAttention(nn.Block):
    def __init__(self, units):
        super().__init__()
        self.key = nn.Dense(units, use_bias=False, flatten=False)
        self.query = nn.Dense(units, use_bias=False, flatten=False)
        self.score = nn.Dense(1, use_bias=False, flatten=False)

    def forward(self, queries, keys, vectors, lengths):
        queries, keys = self.query(queries), self.key(keys)
        features = np.tanh(np.expand_dims(queries, axis=2) + np.expand_dims(keys, axis=1))
        self.weights = masked_softmax(np.squeeze(self.score(features), axis=-1), lengths)
        return npx.batch_dot(self.weights, vectors)


class Translator(nn.Block):
    """A recurrent encoder, and a decoder that looks at all of its outputs in each step."""

    def __init__(self, vocabulary, units):
        super().__init__()
        self.source = nn.Embedding(vocabulary, units)
        self.encoder = rnn.GRU(units)
        self.target = nn.Embedding(vocabulary, units)
        self.attention = AdditiveAttention(units)
        self.decoder = rnn.GRU(units)
        self.dense = nn.Dense(vocabulary, flatten=False)

    def forward(self, source, target, lengths):
        embedded = self.source(source).swapaxes(0, 1)
        state = self.encoder.begin_state(batch_size=source.shape[0], ctx=source.ctx)
        encoded, state = self.encoder(embedded, state)
        encoded, outputs = encoded.swapaxes(0, 1), []
        for step in self.target(target).swapaxes(0, 1):
            query = np.expand_dims(state[0][-1], axis=1)
            context = self.attention(query, encoded, encoded, lengths)
            joined = np.concatenate((context, np.expand_dims(step, axis=1)), axis=-1)
            out, state = self.decoder(joined.swapaxes(0, 1), state)
            outputs.append(out)
        return self.dense(np.concatenate(outputs, axis=0)).swapaxes(0, 1)


class MaskedLoss(gluon.loss.SoftmaxCELoss):
    def forward(self, pred, label, lengths):
        weights = np.expand_dims(np.ones_like(label), axis=-1)
        weights = npx.sequence_mask(weights, lengths, True, axis=1)
        return super().forward(pred, label, weights)


def translator(hybrid):
    net = Translator(9, 6)
    net.initialize(mx.init.Normal(0.1))
    lengths = np.array([3, 5], dtype="float32")
    net(np.zeros((2, 5), dtype="int32"), np.zeros((2, 4), dtype="int32"), lengths)
    fill(net)
    if hybrid:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    loss, losses = MaskedLoss(), []
    for i in range(3):
        source, target = integers(f"s{i}", (2, 5), 9), integers(f"t{i}", (2, 4), 9)
        with autograd.record():
            value = loss(net(source, target, lengths), target.astype("float32"), np.array([4, 2], dtype="float32"))
        value.backward()
        trainer.step(6)
        losses.append(float(value.sum()))
    return {"losses": losses, "weights": told(net.attention.weights)}


def word_vectors(hybrid):
    net = nn.HybridSequential()
    net.add(nn.Embedding(20, 4), nn.Embedding(20, 4))
    net.initialize()
    fill(net)
    if hybrid:
        net.hybridize()

    class MaskedBCE(gluon.loss.SigmoidBinaryCrossEntropyLoss):
        def forward(self, scores, label, mask):
            return super().forward(scores, label, mask)

    loss, losses = MaskedBCE(), []
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
    for i in range(3):
        centre, contexts = integers(f"c{i}", (3, 1), 20), integers(f"n{i}", (3, 6), 20)
        mask = (integers(f"m{i}", (3, 6), 4) > 0).astype("float32")
        label = integers(f"l{i}", (3, 6), 2).astype("float32")
        with autograd.record():
            scores = npx.batch_dot(net[0](centre), net[1](contexts).swapaxes(1, 2))
            value = loss(scores.reshape(label.shape), label, mask) / mask.sum(axis=1) * mask.shape[1]
        value.backward()
        trainer.step(1)
        losses.append(float(value.sum()))
    vectors = net[0].weight.data()
    near = np.dot(vectors, vectors[3]) / np.sqrt(np.sum(vectors * vectors, axis=1) * np.sum(vectors[3] * vectors[3]) + 1e-9)
    return {"losses": losses, "near": told(near), "top": npx.topk(near, k=3, ret_typ="indices").asnumpy().astype("int64").tolist()}


class Detector(nn.Block):
    """Two feature maps with anchors, classes and offsets."""

    def __init__(self, classes):
        super().__init__()
        self.classes = classes
        self.stages = nn.Sequential()
        self.heads = nn.Sequential()
        self.boxes = nn.Sequential()
        for i in range(2):
            stage = nn.Sequential()
            stage.add(nn.Conv2D(4, 3, padding=1), nn.BatchNorm(in_channels=4), nn.Activation("relu"), nn.MaxPool2D(2))
            self.stages.add(stage)
            self.heads.add(nn.Conv2D(3 * (classes + 1), 3, padding=1))
            self.boxes.add(nn.Conv2D(3 * 4, 3, padding=1))

    def forward(self, x):
        anchors, classes, offsets = [], [], []
        for i, stage in enumerate(self.stages):
            x = stage(x)
            anchors.append(npx.multibox_prior(x, sizes=[0.2 + 0.2 * i, 0.3 + 0.2 * i], ratios=[1, 2]))
            classes.append(npx.batch_flatten(self.heads[i](x).transpose(0, 2, 3, 1)))
            offsets.append(npx.batch_flatten(self.boxes[i](x).transpose(0, 2, 3, 1)))
        classes = np.concatenate(classes, axis=1)
        return np.concatenate(anchors, axis=1), classes.reshape(classes.shape[0], -1, self.classes + 1), np.concatenate(offsets, axis=1)


def detector(hybrid):
    net = Detector(2)
    net.initialize()
    net(np.zeros((1, 3, 8, 8)))
    fill(net)
    if hybrid:
        net.hybridize()
    labels = np.array([[[0, 0.1, 0.1, 0.5, 0.6]], [[1, 0.4, 0.3, 0.9, 0.9]]], dtype="float32")
    class_loss, box_loss = gluon.loss.SoftmaxCrossEntropyLoss(), gluon.loss.L1Loss()
    trainer, losses = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 5e-4}), []
    for i in range(3):
        with autograd.record():
            anchors, classes, offsets = net(values(f"x{i}", (2, 3, 8, 8)))
            wanted, mask, kinds = npx.multibox_target(anchors, labels, classes.transpose(0, 2, 1))
            value = class_loss(classes, kinds) + box_loss(offsets * mask, wanted * mask)
        value.backward()
        trainer.step(2)
        losses.append(float(value.sum()))
    anchors, classes, offsets = net(values("x0", (2, 3, 8, 8)))
    found = npx.multibox_detection(npx.softmax(classes).transpose(0, 2, 1), offsets, anchors, nms_threshold=0.5)
    kept = sorted(int(v) for v in found.asnumpy()[0, :, 0])
    return {"losses": losses, "anchors": told(anchors), "kinds": told(kinds), "found": list(found.shape), "kept": kept[-5:],
            "error": float(np.abs((wanted - offsets) * mask).sum())}


class Attention(nn.HybridBlock):
    """Several heads of scaled dot products, padding masked."""

    def __init__(self, units, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Dense(units, use_bias=False, flatten=False) for _ in range(4))

    def _split(self, x):
        x = x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(0, 2, 1, 3)
        return x.reshape(-1, x.shape[2], x.shape[3])

    def forward(self, x, mask):
        query, key, value = self._split(self.query(x)), self._split(self.key(x)), self._split(self.value(x))
        scores = npx.batch_dot(query, key, transpose_b=True) / (query.shape[-1] ** 0.5)
        weights = npx.masked_softmax(scores, mask.astype(bool), axis=-1)
        out = npx.batch_dot(weights, value)
        out = out.reshape(-1, self.heads, out.shape[1], out.shape[2]).transpose(0, 2, 1, 3)
        return self.out(out.reshape(out.shape[0], out.shape[1], -1))


class Encoder(nn.HybridBlock):
    """Tokens, segments and a learned position; blocks of attention and a network for each
    position."""

    def __init__(self, vocabulary, units, length):
        super().__init__()
        self.tokens, self.segments = nn.Embedding(vocabulary, units), nn.Embedding(2, units)
        self.position = gluon.Parameter("position", shape=(1, length, units))
        self.attention, self.norm1, self.norm2 = Attention(units, 2), nn.LayerNorm(), nn.LayerNorm()
        self.wide, self.narrow = nn.Dense(2 * units, flatten=False), nn.Dense(units, flatten=False)

    def forward(self, tokens, segments, mask):
        x = self.tokens(tokens) + self.segments(segments)
        x = x + self.position.data()[:, :x.shape[1], :]
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.narrow(npx.leaky_relu(self.wide(x), act_type="gelu")))


def encoder(hybrid):
    net, head = Encoder(13, 8, 10), nn.Dense(13, flatten=False)
    net.initialize()
    head.initialize()
    tokens, segments = integers("t", (2, 6), 13), integers("s", (2, 6), 2)
    lengths = np.array([4, 6])
    mask = (np.arange(6).reshape(1, 1, 6) < lengths.reshape(2, 1, 1)).astype("float32").repeat(2, axis=0) * np.ones((4, 6, 6))
    head(net(tokens, segments, mask))
    fill(net)
    fill(head)
    if hybrid:
        net.hybridize()
    trainer = gluon.Trainer({**net.collect_params(), **{"head." + k: v for k, v in head.collect_params().items()}}, "adam",
                            {"learning_rate": 0.01})
    loss, losses = gluon.loss.SoftmaxCrossEntropyLoss(), []
    places = np.array([[1, 2], [0, 5]], dtype="int32")
    for i in range(3):
        with autograd.record():
            encoded = net(tokens, segments, mask)
            picked = encoded[np.arange(2).repeat(2).astype("int32"), places.reshape(-1)].reshape(2, 2, -1)
            value = loss(head(picked), integers(f"y{i}", (2, 2), 13))
        value.backward()
        trainer.step(1)
        losses.append(float(value.sum()))
    return {"losses": losses, "encoded": told(net(tokens, segments, mask))}


def adversaries(hybrid):
    generator, discriminator = nn.HybridSequential(), nn.HybridSequential()
    generator.add(nn.Dense(8, activation="tanh"), nn.Dense(2))
    discriminator.add(nn.Dense(5, activation="tanh"), nn.Dense(3, activation="tanh"), nn.Dense(1))
    for net, width in ((generator, 2), (discriminator, 2)):
        net.initialize(mx.init.Normal(0.02), force_reinit=True)
        net(np.zeros((1, width)))
        fill(net)
        if hybrid:
            net.hybridize()
    loss = gluon.loss.SigmoidBCELoss()
    trainers = [gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05}) for net in (discriminator, generator)]
    losses = []
    for i in range(3):
        real, noise = np.dot(values(f"r{i}", (6, 2)), np.array([[1, 2], [-0.1, 0.5]])) + np.array([1, 2]), values(f"z{i}", (6, 2))
        ones, zeros = np.ones((6,)), np.zeros((6,))
        with autograd.record():
            fake = generator(noise)
            value = (loss(discriminator(real), ones) + loss(discriminator(fake.detach()), zeros)) / 2
        value.backward()
        trainers[0].step(6)
        with autograd.record():
            fooled = loss(discriminator(generator(noise)), ones)
        fooled.backward()
        trainers[1].step(6)
        losses += [float(value.sum()), float(fooled.sum())]
    return {"losses": losses, "fake": told(generator(noise))}


class Factors(nn.HybridBlock):
    """A rating as the product of a user's and an item's factors, and biases."""

    def __init__(self, factors, users, items):
        super().__init__()
        self.p, self.q = nn.Embedding(users, factors), nn.Embedding(items, factors)
        self.user_bias, self.item_bias = nn.Embedding(users, 1), nn.Embedding(items, 1)

    def forward(self, user, item):
        out = (self.p(user) * self.q(item)).sum(axis=1) + np.squeeze(self.user_bias(user)) + np.squeeze(self.item_bias(item))
        return out.flatten()


def factors(hybrid):
    net = Factors(3, 7, 9)
    net.initialize()
    fill(net)
    if hybrid:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05, "wd": 1e-3})
    loss, losses = gluon.loss.L2Loss(), []
    for i in range(4):
        users, items, ratings = integers(f"u{i}", (8,), 7), integers(f"i{i}", (8,), 9), integers(f"r{i}", (8,), 5).astype("float32")
        with autograd.record():
            value = loss(net(users, items), ratings)
        value.backward()
        trainer.step(8)
        losses.append(float(np.sqrt(2 * value.mean())))
    return {"losses": losses, "out": told(net(users, items))}


class Scaled(nn.HybridBlock):
    """A layer with a Parameter of its own, whose shape follows from the first input."""

    def __init__(self):
        super().__init__()
        self.scale = gluon.Parameter("scale", shape=(-1,), init="ones", allow_deferred_init=True)

    def forward(self, x):
        return x * self.scale.data().reshape(1, -1, 1, 1)

    def infer_shape(self, x):
        self.scale.shape = (x.shape[1],)


class Residual(nn.HybridBlock):
    def __init__(self, channels, other=False, strides=1):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2D(channels, 3, strides, 1), nn.Conv2D(channels, 3, 1, 1)
        self.conv3 = nn.Conv2D(channels, 1, strides) if other else None
        self.bn1, self.bn2, self.scaled = nn.BatchNorm(), nn.BatchNorm(), Scaled()

    def forward(self, x):
        y = self.bn2(self.conv2(npx.relu(self.bn1(self.conv1(x)))))
        if self.conv3 is not None:
            x = self.conv3(x)
        return npx.relu(self.scaled(y) + x)


def resnet(hybrid):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, 1, 1), nn.BatchNorm(), nn.Activation("relu"), Residual(4), Residual(8, True, 2), nn.GlobalAvgPool2D(),
            nn.Dense(3))
    net.initialize(init=mx.init.Xavier())
    net(np.zeros((1, 3, 8, 8)))
    fill(net)
    batches = [(values(f"x{i}", (8, 3, 8, 8)), integers(f"y{i}", (8,), 3)) for i in range(3)]
    losses = train(net, batches, gluon.loss.SoftmaxCrossEntropyLoss(), "sgd", {"learning_rate": 0.05, "momentum": 0.9}, hybrid)
    return {"losses": losses, "out": told(net(batches[0][0])), "scale": told(net[3].scaled.scale.data())}


PROGRAMS = (mlp, lenet, language_model, translator, word_vectors, detector, encoder, adversaries, factors, resnet)
