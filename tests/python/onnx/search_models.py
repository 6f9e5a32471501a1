"""Small random decoders that a search runs, made node by node."""
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
helper, numpy_helper = onnx.helper, onnx.numpy_helper

INT, FLOAT = onnx.TensorProto.INT32, onnx.TensorProto.FLOAT


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


class Graph:
    """Nodes and weights of one graph; results have numbered names behind a prefix."""

    def __init__(self, prefix, seed):
        self.prefix, self.nodes, self.weights = prefix, [], []
        self.random = np.random.RandomState(seed)

    def name(self):
        return f"{self.prefix}{len(self.nodes) + len(self.weights)}"

    def __call__(self, op, *inputs, outputs=1, into=None, **attributes):
        names = [into] if into else [f"{self.name()}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array):
        name = self.name() + "_w"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, "int64"))

    def weight(self, *shape, scale=1.0):
        return self.constant((scale * self.random.randn(*shape)).astype("float32"))

    def heads(self, x, heads):
        """(batch, steps, size) -> (batch, heads, steps, size / heads)"""
        return self("Transpose", self("Reshape", x, self.ints(0, 0, heads, -1)), perm=[0, 2, 1, 3])

    def size(self, x, axis):
        return self("Gather", self("Shape", x), self.constant(np.array(axis, "int64")), axis=0)

    def range(self, end):
        zero, one = (self.constant(np.array(v, "int64")) for v in (0, 1))
        return self("Range", zero, end, one)

    def bias(self, mask):
        """0 where a mask (batch, keys) is 1, -10000 elsewhere: (batch, 1, 1, keys)."""
        wide = self("Unsqueeze", self("Cast", mask, to=FLOAT), self.ints(1, 2))
        one, large = self.constant(np.float32(1)), self.constant(np.float32(-10000))
        return self("Mul", self("Sub", one, wide), large)

    def causal(self, steps, keys):
        """A bias (steps, keys): queries are the last of the keys, and see no later ones."""
        past = self("Sub", keys, steps)
        rows = self("Unsqueeze", self("Add", self.range(steps), past), self.ints(1))
        sees = self("LessOrEqual", self("Unsqueeze", self.range(keys), self.ints(0)), rows)
        return self("Where", sees, self.constant(np.float32(0)), self.constant(np.float32(-10000)))

    def attend(self, q, k, v, bias, size):
        dots = self("MatMul", q, self("Transpose", k, perm=[0, 1, 3, 2]))
        heads_size = self.constant(np.float32(1 / np.sqrt(size)))
        shares = self("Softmax", self("Add", self("Mul", dots, heads_size), bias), axis=-1)
        rows = self("Transpose", self("MatMul", shares, v), perm=[0, 2, 1, 3])
        return self("Reshape", rows, self.ints(0, 0, -1))

    def made(self, name, inputs, outputs):
        return helper.make_graph(self.nodes, name, inputs, outputs, self.weights)


def gpt(seed, vocab=17, heads=2, size=4, layers=2, positions=64, gain=2.0, steps="steps"):
    """A decoder with a cache (2, batch, heads, past, size) for each layer."""
    g, width = Graph("d", seed), heads * size
    x = g("Add", g("Gather", g.weight(vocab, width), "input_ids"),
          g("Gather", g.weight(positions, width), "position_ids"))
    bias = g("Add", g.bias("attention_mask"),
             g.causal(g.size("input_ids", 1), g.size("attention_mask", 1)))
    one = g.ints(0)
    for i in range(layers):
        parts = g("Split", g("MatMul", x, g.weight(width, 3 * width, scale=0.5)), axis=2, outputs=3)
        q, k, v = (g.heads(part, heads) for part in parts)
        before = g("Split", f"past_{i}", axis=0, outputs=2)
        k, v = (g("Concat", g("Squeeze", b, one), now, axis=2) for b, now in zip(before, (k, v)))
        g("Concat", g("Unsqueeze", k, one), g("Unsqueeze", v, one), axis=0, into=f"present_{i}")
        y = g("MatMul", g.attend(q, k, v, bias, size), g.weight(width, width, scale=0.5))
        x = g("Add", x, y)
    norm = g("LayerNormalization", x, g.constant(np.ones(width, "float32")), axis=-1)
    g("MatMul", norm, g.weight(width, vocab, scale=gain / np.sqrt(width)), into="logits")
    cache = [2, "batch", heads, "past", size]
    return g.made("decoder", [info("input_ids", INT, ["batch", steps]),
                              info("position_ids", INT, ["batch", steps]),
                              info("attention_mask", INT, ["batch", "total"])] +
                  [info(f"past_{i}", FLOAT, cache) for i in range(layers)],
                  [info("logits", FLOAT, ["batch", steps, vocab])] +
                  [info(f"present_{i}", FLOAT, [2, "batch", heads, "total", size])
                   for i in range(layers)])


class Pair:
    """An encoder and a decoder, whose weights are drawn from one seed. `old`: the encoder's graph
    runs the decoder's first step, too; `hidden`: the decoder's graph reads the encoder's states;
    `features`: the encoder reads so many floats of each step, and no tokens."""

    def __init__(self, seed, vocab=17, heads=2, size=4, layers=2, gain=2.0, old=True, hidden=False,
                 steps=1, features=0):
        self.seed, self.vocab, self.heads, self.size = seed, vocab, heads, size
        self.layers, self.gain, self.width = layers, gain, heads * size
        self.old, self.hidden, self.steps, self.features = old, hidden, steps, features

    def decode(self, g, ids, states, mask, selves, crosses):
        """Layers of the decoder; `states`: none where keys and values of crosses are given."""
        g.random = np.random.RandomState(self.seed + 1)
        heads, width = self.heads, self.width
        x = g("Gather", g.weight(self.vocab, width), ids)
        seen = g.bias(mask) if mask else g.constant(np.float32(0))
        steps = g.size(ids, 1)
        for i in range(self.layers):
            q, k, v = (g.heads(g("MatMul", x, g.weight(width, width, scale=0.5)), heads)
                       for _ in range(3))
            names = [f"present_key_self_{i}", f"present_value_self_{i}"]
            if selves:
                k, v = (g("Concat", b, now, axis=2, into=to)
                        for b, now, to in zip(selves[i], (k, v), names))
            else:
                k, v = (g("Identity", now, into=to) for now, to in zip((k, v), names))
            y = g.attend(q, k, v, g.causal(steps, g.size(k, 2)), self.size)
            x = g("Add", x, g("MatMul", y, g.weight(width, width, scale=0.5)))
            q = g.heads(g("MatMul", x, g.weight(width, width, scale=0.5)), heads)
            k, v = self.cross(g, states, i) if states else crosses[i]
            y = g.attend(q, k, v, seen, self.size)
            x = g("Add", x, g("MatMul", y, g.weight(width, width, scale=0.5)))
        norm = g("LayerNormalization", x, g.constant(np.ones(width, "float32")), axis=-1)
        g("MatMul", norm, g.weight(width, self.vocab, scale=self.gain / np.sqrt(width)),
          into="logits")

    def cross(self, g, states, i):
        before, g.random = g.random, np.random.RandomState(self.seed + 100 + i)
        names = [f"present_key_cross_{i}", f"present_value_cross_{i}"]
        made = [g("Identity", g.heads(g("MatMul", states, g.weight(self.width, self.width)),
                                      self.heads), into=name) for name in names]
        g.random = before
        return made

    def caches(self, kind, which, length):
        shape = ["batch", self.heads, length, self.size]
        return [info(f"{kind}_{part}_{which}_{i}", FLOAT, shape)
                for i in range(self.layers) for part in ("key", "value")]

    def encoder(self):
        g = Graph("e", self.seed)
        if self.features:
            name, first = "encoder_input_ids", info("encoder_input_ids", FLOAT,
                                                    ["batch", self.features, "length"])
            x = g("MatMul", g("Transpose", name, perm=[0, 2, 1]),
                  g.weight(self.features, self.width))
        else:
            first = info("encoder_input_ids", INT, ["batch", "length"])
            x = g("Gather", g.weight(self.vocab, self.width), "encoder_input_ids")
        q, k, v = (g.heads(g("MatMul", x, g.weight(self.width, self.width)), self.heads)
                   for _ in range(3))
        bias = g.constant(np.float32(0)) if self.features else g.bias("encoder_attention_mask")
        y = g.attend(q, k, v, bias, self.size)
        x = g("Add", x, y, into="encoder_hidden_states")
        mask = info("encoder_attention_mask", INT, ["batch", "length"])
        ids = info("decoder_input_ids", INT, ["batch", "begin"])
        states = info(x, FLOAT, ["batch", "length", self.width])
        inputs = [first] if self.features else [first, mask]
        if not self.old:
            for i in range(self.layers):
                self.cross(g, x, i)
            return g.made("encoder", inputs, self.caches("present", "cross", "length"))
        self.decode(g, ids.name, x, None if self.features else mask.name, None, None)
        logits = info("logits", FLOAT, ["batch", "begin", self.vocab])
        return g.made("encoder", inputs + [ids], [logits, states] +
                      self.caches("present", "self", "begin") +
                      self.caches("present", "cross", "length"))

    def decoder(self):
        g = Graph("d", self.seed)

        def pairs(which):
            return [[f"past_{part}_{which}_{i}" for part in ("key", "value")]
                    for i in range(self.layers)]

        mask = None if self.features else "encoder_attention_mask"
        self.decode(g, "input_ids", None, mask, pairs("self"), pairs("cross"))
        inputs = [info("input_ids", INT, ["batch", self.steps])]
        if mask:
            inputs.append(info(mask, INT, ["batch", "length"]))
        if self.hidden:
            inputs.append(info("encoder_hidden_states", FLOAT, ["batch", "length", self.width]))
        return g.made("decoder", inputs + self.caches("past", "self", "past") +
                      self.caches("past", "cross", "length"),
                      [info("logits", FLOAT, ["batch", self.steps, self.vocab])] +
                      self.caches("present", "self", "total"))


class Buffers(Pair):
    """A Pair whose decoder has buffers with room for a whole text. `masked`: it attends by
    DecoderMaskedMultiHeadAttention, where beams share what is before them; MultiHeadAttention with
    the length of the past alone otherwise."""

    def __init__(self, seed, masked=True, **options):
        super().__init__(seed, **options)
        self.masked = masked

    def attention(self, g, inputs, cache=(), names=(), **attributes):
        op, (q, k, v, mask) = "MultiHeadAttention", inputs
        if self.masked:
            op, beams = "DecoderMaskedMultiHeadAttention", ["beam_width", "cache_indirection"]
            past = [*cache, "past_sequence_length", *beams] if cache else []
            inputs = [q, k, v, mask, "", *past]
            attributes = {"past_present_share_buffer": 1} if cache else {}
        else:
            inputs = [q, k, v, "", mask, "", *cache, *(["past_sequence_length"] if cache else [])]
        name = g.name() + "_y"
        while not inputs[-1]:
            inputs.pop()
        g.nodes.append(helper.make_node(op, inputs, [name, *names], domain="com.microsoft",
                                        num_heads=self.heads, **attributes))
        return name

    def decode(self, g, ids, states, mask, selves, crosses):
        if states:
            return super().decode(g, ids, states, mask, selves, crosses)
        g.random = np.random.RandomState(self.seed + 1)
        width = self.width
        x = g("Gather", g.weight(self.vocab, width), ids)
        for i in range(self.layers):
            q, k, v = (g("MatMul", x, g.weight(width, width, scale=0.5)) for _ in range(3))
            names = [f"present_key_self_{i}", f"present_value_self_{i}"]
            y = self.attention(g, [q, k, v, ""], selves[i], names, unidirectional=1)
            x = g("Add", x, g("MatMul", y, g.weight(width, width, scale=0.5)))
            q = g("MatMul", x, g.weight(width, width, scale=0.5))
            y = self.attention(g, [q, *crosses[i], mask or ""])
            x = g("Add", x, g("MatMul", y, g.weight(width, width, scale=0.5)))
        norm = g("LayerNormalization", x, g.constant(np.ones(width, "float32")), axis=-1)
        g("MatMul", norm, g.weight(width, self.vocab, scale=self.gain / np.sqrt(width)),
          into="logits")

    def decoder(self):
        graph = super().decoder()
        graph.input.append(info("past_sequence_length", INT, [1]))
        if self.masked:
            graph.input.append(info("beam_width", INT, [1]))
            graph.input.append(info("cache_indirection", INT, ["batch", "beams", "room"]))
        return graph


ORDER = {
    "GreedySearch": ["input_ids", "max_length", "min_length", "repetition_penalty", "vocab_mask",
                     "prefix_vocab_mask", "attention_mask"],
    "BeamSearch": ["input_ids", "max_length", "min_length", "num_beams", "num_return_sequences",
                   "length_penalty", "repetition_penalty", "vocab_mask", "prefix_vocab_mask",
                   "attention_mask", "decoder_input_ids", "logits_processor"],
    "Sampling": ["input_ids", "max_length", "min_length", "repetition_penalty", "vocab_mask",
                 "prefix_vocab_mask", "attention_mask", "presence_mask", "seed"]}
ORDER["WhisperBeamSearch"] = [*ORDER["BeamSearch"], "cross_qk_layer_head", "extra_decoding_ids",
                              "temperature"]
RESULTS = {"GreedySearch": ["sequences"],
           "BeamSearch": ["sequences", "sequences_scores", "scores"],
           "Sampling": ["sequences", "filtered_logits"],
           "WhisperBeamSearch": ["sequences", "sequences_scores", "scores", "cross_qk",
                                 "non_speech_probs"]}


def feeds_of(**values):
    """Arrays as the operators want them: numbers have shape (1,)."""
    made = {}
    for name, value in values.items():
        value = np.asarray(value)
        kind = "float32" if value.dtype.kind == "f" else "int32"
        made[name] = np.atleast_1d(value).astype(kind)
    return made


def search(op, feeds, graphs, outputs=None, outer=False, **attributes):
    """The bytes of a model of one node; `graphs`: its subgraphs by attribute. `outer`: their
    weights are in the main graph, as onnxruntime's tools put those that subgraphs share."""
    weights = []
    for graph in graphs.values() if outer else ():
        weights += [w for w in graph.initializer if w.name not in [o.name for o in weights]]
        del graph.initializer[:]
    names = [n if n in feeds else "" for n in ORDER[op]]
    while not names[-1]:
        names.pop()
    node = helper.make_node(op, names, RESULTS[op][:outputs], domain="com.microsoft",
                            **{"eos_token_id": 2, "pad_token_id": 0, **attributes}, **graphs)
    kinds = {"int32": INT, "float32": FLOAT}
    graph = helper.make_graph(
        [node], "search",
        [info(n, kinds[str(feeds[n].dtype)], [None] * feeds[n].ndim) for n in names if n],
        [info(n, INT if n == "sequences" else FLOAT, None) for n in node.output], weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
