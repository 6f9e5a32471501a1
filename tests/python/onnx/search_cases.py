"""Random searches, and what onnxruntime gives for them: `python search_cases.py` records that in
tests/python/data/onnx_searches.json."""
import json
import os

import numpy as np
import search_models

ANSWERS = os.path.join(os.path.dirname(__file__), "..", "data", "onnx_searches.json")
NUMBERS = 84
EOS = 2


def common(r, vocab, batch, length):
    """Inputs and attributes that all searches have."""
    ids = r.randint(1, vocab, (batch, length))
    for row in ids:
        row[:r.randint(0, length) if r.rand() < 0.4 else 0] = 0
    feeds = {"input_ids": ids, "max_length": length + r.randint(2, 14),
             "min_length": int(r.choice([0, 0, 4, 8]))}
    attributes = {"eos_token_id": EOS, "pad_token_id": int(r.choice([0, 0, EOS]))}
    if r.rand() < 0.4:
        feeds["repetition_penalty"] = float(r.choice([0.7, 1.3, 2.0]))
    if r.rand() < 0.3:
        feeds["vocab_mask"] = (r.rand(vocab) < 0.7) | (np.arange(vocab) == EOS)
    if r.rand() < 0.3:
        feeds["prefix_vocab_mask"] = (r.rand(batch, vocab) < 0.7) | (np.arange(vocab) == 5)
    if r.rand() < 0.3:
        feeds["attention_mask"] = np.ones((batch, length), int)
        for row in feeds["attention_mask"]:
            row[:r.randint(0, length)] = 0
    if r.rand() < 0.3:
        attributes["no_repeat_ngram_size"] = int(r.choice([1, 2, 3]))
    return feeds, attributes


def with_times(number):
    """As `case`, of texts of sounds with times, whose tokens begin with 27."""
    r = np.random.RandomState(number)
    vocab, batch, beams = int(r.choice([34, 90])), r.randint(1, 4), r.randint(1, 4)
    begin = np.array([[21, r.choice([22, 23])] + [30] * (number % 3 == 0)] * batch)
    feeds = {"input_ids": r.randn(batch, 5, 7), "decoder_input_ids": begin, "num_beams": beams,
             "max_length": r.randint(5, 24), "min_length": 0, "num_return_sequences": beams,
             "length_penalty": 1.0, "logits_processor": 1}
    if r.rand() < 0.5:
        feeds["temperature"] = float(r.choice([0.5, 2.0]))
    pair = search_models.Pair(number, vocab, layers=1, gain=float(r.choice([1.0, 2.0, 3.0])),
                              features=5, hidden=True)
    made, op = search_models.feeds_of(**feeds), "WhisperBeamSearch"
    return op, made, search_models.search(
        op, made, {"encoder": pair.encoder(), "decoder": pair.decoder()}, 2, eos_token_id=20,
        pad_token_id=20, decoder_start_token_id=21, translate_token_id=22, transcribe_token_id=23,
        start_of_lm_token_id=24, no_timestamps_token_id=26, beginning_timestamp_token_id=27)


def case(number):
    """Operator, feeds, and the bytes of a model."""
    r = np.random.RandomState(number)
    kind = ("GreedySearch", "Sampling", "BeamSearch", "Pair", "Pair", "Sounds", "Times")[number % 7]
    if kind == "Times":
        return with_times(number)
    vocab, batch, length = int(r.choice([9, 17, 40])), r.randint(1, 4), r.randint(1, 7)
    layers, gain, new = r.randint(1, 3), float(r.choice([1.0, 2.0, 4.0])), bool(r.rand() < 0.4)
    feeds, attributes = common(r, vocab, batch, length)
    op = kind if kind in search_models.ORDER else "BeamSearch"
    if kind == "Sampling":
        feeds["seed"] = r.randint(0, 1000)
        attributes.update(temperature=float(r.choice([0.5, 1, 1.7])), custom=int(r.rand() < 0.3),
                          top_p=float(r.choice([0.3, 0.7, 0.95, 1.0])),
                          min_tokens_to_keep=int(r.choice([0, 1, 3])))
    if op == "BeamSearch":
        beams = int(r.choice([1, 2, 3, 4]))
        feeds.update(num_beams=beams, num_return_sequences=r.randint(1, beams + 1),
                     length_penalty=float(r.choice([0.5, 1.0, 2.0, -1.0])))
        attributes["early_stopping"] = int(r.choice([0, 1]))
    if op != kind:
        attributes.update(model_type=1 + (kind == "Sounds"), decoder_start_token_id=3)
        feeds["max_length"] += 4
    if kind == "Sounds":
        feeds.pop("attention_mask", None)
        feeds["input_ids"] = r.randn(batch, 5, length)
        feeds["decoder_input_ids"] = r.randint(3, vocab, (batch, r.randint(1, 4)))
    if op == kind:
        graphs = {"decoder": search_models.gpt(number, vocab, layers=layers, gain=gain)}
        if new:
            graphs["init_decoder"] = search_models.gpt(number, vocab, layers=layers, gain=gain)
    else:
        pair = search_models.Pair(number, vocab, layers=layers, gain=gain, hidden=r.rand() < 0.5,
                                  old=True, features=5 * (kind == "Sounds"))
        if kind == "Pair" and new:
            pair.old, pair.hidden = False, False
        graphs = {"encoder": pair.encoder(), "decoder": pair.decoder()}
    made = search_models.feeds_of(**feeds)
    outer = op == kind and "init_decoder" not in graphs and r.rand() < 0.5
    return op, made, search_models.search(op, made, graphs, outer=outer, **attributes,
                                          outputs=1 if op != "BeamSearch" else 2)


def theirs(number):
    import onnxruntime
    _, feeds, data = case(number)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return [a.tolist() for a in session.run(None, feeds)]


if __name__ == "__main__":
    with open(ANSWERS, "w") as file:
        json.dump([theirs(number) for number in range(NUMBERS)], file, separators=(",", ":"))
