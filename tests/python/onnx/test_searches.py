"""GreedySearch, Sampling and BeamSearch: their answers are those that onnxruntime gave."""
import json

import numpy as np
import pytest
import search_cases
import search_models

import mxnet as mx

with open(search_cases.ANSWERS) as _file:
    ANSWERS = json.load(_file)


def results(model, feeds):
    made = model(**feeds)
    return [m.asnumpy() for m in (made if isinstance(made, (list, tuple)) else [made])]


@pytest.mark.parametrize("number", range(search_cases.NUMBERS))
def test_answers_are_those_of_onnxruntime(number):
    op, feeds, data = search_cases.case(number)
    got = results(mx.onnx.load(data), feeds)
    want = [np.array(a) for a in ANSWERS[number]]
    assert got[0].dtype == np.int32
    assert got[0].shape == want[0].shape
    end = got[0].shape[-1]
    if "Beam" not in op:  # onnxruntime leaves what is behind the last word as it finds it
        while end > 1 and len(set(got[0][:, end - 2:end].ravel())) == 1:
            end -= 1
    assert got[0][..., :end].tolist() == want[0][..., :end].tolist()
    for one, other in zip(got[1:], want[1:]):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def beams(graphs, feeds, **attributes):
    numbers = {"max_length": 12, "min_length": 0, "num_beams": 3, "num_return_sequences": 2,
               "length_penalty": 1.0}
    made = search_models.feeds_of(**{**numbers, **feeds})
    return made, search_models.search("BeamSearch", made, graphs, 3, **attributes)


def test_scores_of_all_tokens_add_up_to_those_of_texts():
    ids = np.random.RandomState(0).randint(3, 17, (2, 4))
    feeds, data = beams({"decoder": search_models.gpt(3)}, {"input_ids": ids}, eos_token_id=-1)
    texts, scores, steps = results(mx.onnx.load(data), feeds)
    assert steps.shape == (8, 2, 3, 17)
    best = steps[-1].reshape(2, -1).max(axis=1)
    np.testing.assert_allclose(scores[:, 0], best / 12, rtol=1e-5)
    assert (texts[:, :, :4] == ids[:, None]).all()


def test_texts_of_any_length_one_after_another():
    """A model that has run with other lengths, in parts, gives what a new one gives."""
    graph = search_models.gpt(11, vocab=40, layers=3)
    model = None
    for length in (2, 7, 3, 9, 5, 2, 11):
        ids = np.random.RandomState(length).randint(3, 40, (2, length))
        feeds, data = beams({"decoder": graph}, {"input_ids": ids, "max_length": length + 6})
        model = model or mx.onnx.load(data)
        for one, other in zip(results(model, feeds), results(mx.onnx.load(data), feeds)):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("features", [0, 5])
def test_buffers_with_room_give_what_growing_caches_give(features, count, old, masked):
    """Of beams that share buffers, too. (onnxruntime's CPU provider gives random tokens there.)"""
    if features:
        ids = np.random.RandomState(1).randn(2, features, 7)
    else:
        ids = np.random.RandomState(1).randint(3, 17, (2, 4))
    changes = {"input_ids": ids, "num_beams": count, "num_return_sequences": count}
    if not features:
        changes["attention_mask"] = [[0, 1, 1, 1], [1, 1, 1, 1]]
    found = []
    for kind in (search_models.Pair, search_models.Buffers):
        options = {"masked": masked} if kind is search_models.Buffers else {}
        pair = kind(7, size=8, features=features, old=old or bool(features), **options)
        graphs = {"encoder": pair.encoder(), "decoder": pair.decoder()}
        feeds, data = beams(graphs, changes, model_type=2 if features else 1,
                            decoder_start_token_id=1, eos_token_id=-1)
        model = mx.onnx.load(data)
        found.append([results(model, feeds) for _ in range(2)])
    for wanted, made in zip(*found):
        assert made[0].tolist() == wanted[0].tolist()
        for one, other in zip(made[1:], wanted[1:]):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def sampled(ids, **attributes):
    feeds = search_models.feeds_of(input_ids=ids, max_length=ids.shape[1] + 1,
                                   **({"seed": attributes.pop("seed")} if "seed" in attributes else {}))
    graph = search_models.gpt(5, gain=1.0)
    data = search_models.search("Sampling", feeds, {"decoder": graph}, 1, eos_token_id=-1,
                                **attributes)
    return results(mx.onnx.load(data), feeds)[0][:, -1]


def shares_of(ids):
    """Shares of the next token: exponentials of a beam search's first scores."""
    feeds, data = beams({"decoder": search_models.gpt(5, gain=1.0)},
                        {"input_ids": ids, "max_length": ids.shape[1] + 1}, eos_token_id=-1)
    return np.exp(results(mx.onnx.load(data), feeds)[2][0, 0, 0])


@pytest.mark.parametrize("top_p", [1.0, 0.7, 0.3])
@pytest.mark.parametrize("temperature", [1.0, 0.5, 2.0])
def test_tokens_are_drawn_by_their_shares(top_p, temperature):
    ids, count = np.array([[3, 5, 7, 4]]), 4000
    shares = shares_of(ids) ** (1 / temperature)
    shares /= shares.sum()
    order = np.argsort(-shares)
    before = np.cumsum(shares[order]) - shares[order]
    shares[order[before >= top_p]] = 0
    shares /= shares.sum()
    drawn = sampled(np.repeat(ids, count, 0), seed=1, top_p=top_p, temperature=temperature)
    found = np.bincount(drawn, minlength=17) / count
    assert (found[shares == 0] == 0).all()
    assert (np.abs(found - shares) < 5 * np.sqrt(shares * (1 - shares) / count) + 1e-9).all()


def test_a_seed_says_what_is_drawn():
    ids = np.full((40, 3), 5)
    one, other = (sampled(ids, seed=s, top_p=1.0).tolist() for s in (4, 5))
    assert one == sampled(ids, seed=4, top_p=1.0).tolist()
    assert one != other
    mx.random.seed(3)
    first, second = (sampled(ids, top_p=1.0).tolist() for _ in range(2))
    assert first != second
    mx.random.seed(3)
    assert sampled(ids, top_p=1.0).tolist() == first


def test_tokens_that_are_present_are_drawn_less():
    ids, present = np.full((400, 3), 5), np.arange(17) % 2
    feeds = search_models.feeds_of(input_ids=ids, max_length=4, seed=1,
                                   presence_mask=np.tile(present, (400, 1)))
    data = search_models.search("Sampling", feeds, {"decoder": search_models.gpt(5, gain=0.3)}, 1,
                                custom=1, presence_penalty=50.0, top_p=1.0, eos_token_id=-1)
    assert (results(mx.onnx.load(data), feeds)[0][:, -1] % 2 == 0).all()


@pytest.mark.parametrize("changes, attributes, message", [
    ({"num_beams": 0}, {}, "num_beams is 0; accepted: from 1 on"),
    ({"num_return_sequences": 4}, {}, "num_return_sequences is 4; accepted: up to num_beams, 3"),
    ({"max_length": 4}, {}, "max_length is 4; accepted: above the length"),
    ({"max_length": 2**31 - 1}, {}, "max_length is 2147483647; accepted: up to 1048576"),
    ({"num_beams": 2**31 - 1}, {}, "num_beams is 2147483647; accepted: up to 4096"),
    ({"repetition_penalty": 0.0}, {}, "repetition_penalty is 0; accepted: above 0"),
    ({"vocab_mask": [1, 0]}, {}, "vocab_mask has 2 numbers; accepted: 17"),
    ({"prefix_vocab_mask": [[1] * 17]}, {}, "prefix_vocab_mask has 17 numbers; accepted: 34"),
    ({"attention_mask": [[1, 1]]}, {}, r"attention_mask has shape \(1, 2\); accepted: \(2, 4\)"),
    ({"input_ids": [5, 6]}, {}, r"input_ids have shape \(2,\); accepted: \(batch, length\)"),
    ({}, {"vocab_size": 22}, "for 6 rows of 22 tokens"),
    ({}, {"model_type": 3}, "model_type is 3; accepted: 0, 1 and 2"),
    ({}, {"model_type": 1, "decoder_start_token_id": 1}, "attribute encoder is not there"),
    ({}, {"other": 1}, "attribute other is not known"),
])
def test_what_beams_refuse(changes, attributes, message):
    ids = np.random.RandomState(0).randint(3, 17, (2, 4))
    feeds, data = beams({"decoder": search_models.gpt(3)}, {"input_ids": ids, **changes},
                        **attributes)
    with pytest.raises(ValueError, match=message):
        results(mx.onnx.load(data), feeds)


@pytest.mark.parametrize("changes, outputs, attributes, message", [
    ({"logits_processor": 2}, 2, {}, "logits_processor is 2"),
    ({"logits_processor": 1}, 2, {}, "beginning_timestamp_token_id is -1"),
    ({}, 5, {}, "output 3 is wanted"),
    ({}, 2, {"decoder_output_cross_qk": 1}, "decoder_output_cross_qk is not 0"),
])
def test_what_sounds_refuse(changes, outputs, attributes, message):
    pair = search_models.Pair(3, features=5)
    feeds = search_models.feeds_of(**{
        "input_ids": np.ones((1, 5, 7)), "max_length": 6, "min_length": 0, "num_beams": 2,
        "num_return_sequences": 1, "decoder_input_ids": [[1]], **changes})
    data = search_models.search("WhisperBeamSearch", feeds, {
        "encoder": pair.encoder(), "decoder": pair.decoder()}, outputs, **attributes)
    with pytest.raises(ValueError, match=message):
        results(mx.onnx.load(data), feeds)


@pytest.mark.parametrize("op, attributes, message", [
    ("GreedySearch", {"model_type": 1}, "model_type is 1; accepted: 0"),
    ("Sampling", {"min_tokens_to_keep": 17}, "min_tokens_to_keep is 17; accepted: below the 17"),
    ("Sampling", {"min_tokens_to_keep": -1}, "min_tokens_to_keep is -1; accepted: from 0 on"),
])
def test_what_others_refuse(op, attributes, message):
    feeds = search_models.feeds_of(input_ids=[[3, 4]], max_length=6)
    data = search_models.search(op, feeds, {"decoder": search_models.gpt(3)}, 1, **attributes)
    with pytest.raises(ValueError, match=message):
        results(mx.onnx.load(data), feeds)


def test_buffers_of_a_decoder_alone_are_refused():
    graph = search_models.gpt(3)
    graph.input.append(search_models.info("past_sequence_length", search_models.INT, [1]))
    feeds = search_models.feeds_of(input_ids=[[3, 4]], max_length=6)
    data = search_models.search("GreedySearch", feeds, {"decoder": graph}, 1)
    with pytest.raises(ValueError, match="reads past_sequence_length behind its caches"):
        results(mx.onnx.load(data), feeds)


def test_a_search_is_no_block():
    feeds = search_models.feeds_of(input_ids=[[3, 4]], max_length=6)
    data = search_models.search("GreedySearch", feeds, {"decoder": search_models.gpt(3)}, 1)
    with pytest.raises(ValueError, match="the model is no single graph"):
        mx.onnx.load(data).to_block(shapes={"input_ids": (1, 2)})
