"""GluonNLP: BERT, translation with beam search, language models, cells, data tools, optimizers."""
import gluonnlp as nlp
import mxnet as mx
import numpy as np
from filled import fill, flat, show, show_gradients
from mxnet import autograd, gluon, nd

draws = np.random.RandomState(0)


def numbers(*shape, below=0):
    if below:
        return nd.array(draws.randint(0, below, shape))
    return nd.array(draws.uniform(-1, 1, shape))


def filled(net, *inputs):
    net.initialize()
    net(*inputs)
    fill(net)
    return net


def bert():
    words = "the quick brown fox jumps over the lazy dog [MASK]".split()
    vocab = nlp.Vocab(nlp.data.count_tokens(words * 2), unknown_token="[UNK]", padding_token="[PAD]", bos_token=None,
                      eos_token=None, reserved_tokens=["[CLS]", "[SEP]"])
    print(vocab, vocab[["the", "zzz"]], vocab.to_tokens([0, 1, 5]))
    encoder = nlp.model.BERTEncoder(units=32, hidden_size=64, num_layers=2, num_heads=4, max_length=20, dropout=0.0)
    inputs = numbers(3, 12, below=50), nd.zeros((3, 12)), nd.array([12, 8, 5]), nd.array([[1, 2], [0, 3], [2, 4]])
    net = filled(nlp.model.BERTModel(encoder, vocab_size=50, token_type_vocab_size=2, units=32, embed_size=32,
                                     use_pooler=True, use_decoder=True, use_classifier=True), *inputs)
    show("bert", net(*inputs))
    for hybrid in (False, True):
        if hybrid:
            net.hybridize(static_alloc=True)
        with autograd.record():
            loss = sum((x * x).mean() for x in flat(net(*inputs)))
        loss.backward()
        show_gradients(f"bert hybrid={hybrid}", net)
    tokens = nlp.data.BERTTokenizer(vocab, lower=True)
    print(tokens("The quick, brown foxes"))
    sentence = nlp.data.BERTSentenceTransform(tokens, 10, pair=False)(["the quick brown"])
    print([[int(v) for v in np.asarray(x).ravel()] for x in sentence])


def translation():
    encoder, decoder, one_step = nlp.model.transformer.get_transformer_encoder_decoder(
        num_layers=2, num_heads=4, units=32, hidden_size=64, dropout=0.0, max_src_length=30, max_tgt_length=30)
    vocab = nlp.Vocab(nlp.data.count_tokens([str(k) for k in range(40)]))
    lengths = nd.array([7, 5]), nd.array([6, 4])
    inputs = (numbers(2, 7, below=40), numbers(2, 6, below=40), *lengths)
    net = filled(nlp.model.translation.NMTModel(
        src_vocab=vocab, tgt_vocab=vocab, encoder=encoder, decoder=decoder, one_step_ahead_decoder=one_step,
        share_embed=True, embed_size=32, tie_weights=True, embed_initializer=None, prefix="transformer_"), *inputs)
    net.hybridize()
    with autograd.record():
        loss = nlp.loss.MaskedSoftmaxCELoss()(net(*inputs)[0], inputs[1], lengths[1])
    loss.backward()
    show("translation", loss)
    show_gradients("translation", net)
    sampler = nlp.model.BeamSearchSampler(beam_size=3, decoder=lambda x, states: net.decode_step(x, states)[:2], eos_id=3,
                                          scorer=nlp.model.BeamSearchScorer(alpha=0.6, K=5), max_length=8)
    encoded = net.encode(inputs[0], valid_length=lengths[0])[0]
    samples, scores, _ = sampler(nd.array([2, 2]), net.decoder.init_state_from_encoder(encoded, lengths[0]))
    print(samples.asnumpy().astype(int).tolist())
    show("beams", scores)


def layers():
    net = nlp.model.StandardRNN(mode="lstm", vocab_size=30, embed_size=16, hidden_size=16, num_layers=2, dropout=0.0,
                                tie_weights=True)
    start, words = net.begin_state(batch_size=2, func=nd.zeros), numbers(5, 2, below=30)
    show("language model", filled(net, words, start)(words, start))
    keys, mask = (numbers(2, 3, 8), numbers(2, 4, 8)), numbers(2, 3, 4, below=2)
    dots = nlp.model.DotProductAttentionCell(scaled=True)
    for cell in (nlp.model.MLPAttentionCell(units=8), dots, nlp.model.MultiHeadAttentionCell(dots, 8, 8, 8, 2)):
        inputs = (*keys, keys[1], mask)
        show(type(cell).__name__, filled(cell, *inputs)(*inputs))


def data():
    lengths = draws.randint(1, 30, 50).tolist()
    buckets = nlp.data.FixedBucketSampler(lengths, batch_size=4, num_buckets=3, ratio=0.5, shuffle=False)
    print(buckets.stats(), list(buckets)[:3])
    rows = gluon.data.SimpleDataset([(list(range(n)), n) for n in (3, 5, 2, 4)])
    together = nlp.data.batchify.Tuple(nlp.data.batchify.Pad(dtype="int32"), nlp.data.batchify.Stack())
    for batch in gluon.data.DataLoader(rows, batch_size=2, batchify_fn=together, num_workers=2):
        print([(x.asnumpy().tolist(), x.dtype) for x in flat(batch)])


def optimizers():
    for name in ("bertadam", "lamb"):
        net = filled(gluon.nn.Dense(3, in_units=4), nd.zeros((1, 4)))
        trainer = gluon.Trainer(net.collect_params(), name, {"learning_rate": 0.01, "wd": 0.01})
        for _ in range(3):
            with autograd.record():
                loss = (net(nd.arange(8).reshape((2, 4))) ** 2).sum()
            loss.backward()
            trainer.step(1)
        show(name, net.weight.data())
    show("norm", nlp.utils.clip_grad_global_norm(list(net.collect_params().values()), 1.0))


mx.random.seed(0)
bert()
translation()
layers()
data()
optimizers()
