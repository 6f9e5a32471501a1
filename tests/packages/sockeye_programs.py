"""Sockeye: its commands prepare data, train a transformer, translate, score, average and list."""
import json
import os
import random
import runpy
import sys
import tempfile
import zlib

import mxnet as mx
import numpy as np

SHAPE = ("--encoder transformer --decoder transformer --num-layers 2 --transformer-model-size 16 --num-embed 16 "
         "--transformer-attention-heads 2 --transformer-feed-forward-num-hidden 32 --use-cpu --seed 1 --max-seq-len 20 "
         "--embed-dropout 0 --transformer-dropout-attention 0 --transformer-dropout-act 0 --transformer-dropout-prepost 0")


def sentences():
    draws = random.Random(1)
    words = [letter * count for letter in "abcdefghij" for count in (1, 2)]
    for name, count in (("train", 120), ("dev", 12), ("few", 3)):
        with open(f"{name}.source", "w") as source, open(f"{name}.target", "w") as target:
            for _ in range(count):
                line = [draws.choice(words) for _ in range(draws.randint(2, 9))]
                source.write(" ".join(line) + "\n")
                target.write(" ".join(word.upper() for word in reversed(line)) + "\n")


def command(name, line):
    sys.argv = [name, *line.split()]
    try:
        runpy.run_module(f"sockeye.{name}", run_name="__main__")
    except SystemExit as done:
        assert not done.code, done.code
    sys.stdout.flush()


def fill(read, write):
    """Give weights values that depend on their names alone."""
    arrays = mx.nd.load(read)
    for name, array in arrays.items():
        state = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)
        values = state.uniform(0.5, 1.5, array.shape) if name.endswith("gamma") else state.normal(0, 0.25, array.shape)
        arrays[name] = mx.nd.array(values, dtype=array.dtype)
    mx.nd.save(write, arrays)


def metrics(folder):
    with open(f"{folder}/metrics") as file:
        for line in file:
            pairs = dict(part.split("=") for part in line.split()[1:])
            print("metrics", {name: float(pairs[name]) for name in ("epoch", "perplexity-train", "perplexity-val", "learning-rate")})


def training():
    """Two runs of each model: the first one makes its files, the second begins with other
    weights."""
    command("prepare_data", "-s train.source -t train.target -o data --shared-vocab --max-seq-len 20")
    with open("data/vocab.src.0.json") as file:
        print("vocabulary", sorted(json.load(file).items(), key=lambda pair: pair[1])[:8])
    other = ("--optimizer sgd --momentum 0.9 --gradient-clipping-type norm --update-interval 2 --transformer-activation-type gelu "
             "--learning-rate-scheduler-type inv-sqrt-decay --learning-rate-warmup 4 --length-task ratio --lhuc all "
             "--transformer-positional-embedding-type learned --transformer-postprocess drn --transformer-preprocess n")
    for name, options in (("plain", "--weight-init xavier"), ("other", other)):
        line = f"-d data -vs dev.source -vt dev.target --shared-vocab {SHAPE} --batch-type sentence --batch-size 10 {options} " \
               "--initial-learning-rate 0.0005 --decode-and-evaluate 0"
        command("train", f"{line} -o begin_{name} --max-updates 1 --checkpoint-interval 1")
        fill(f"begin_{name}/params.00001", f"{name}.params")
        command("train", f"{line} -o {name} --max-updates 16 --checkpoint-interval 8 --params {name}.params")
        metrics(name)
        print(name, sorted(mx.nd.load(f"{name}/params.00002"))[::9], sorted(os.listdir(name)))
        if name == "plain":   # a run goes on where the one before ended
            command("train", f"{line} -o {name} --max-updates 24 --checkpoint-interval 8 --params {name}.params")
            metrics(name)


def translation():
    command("translate", "-m plain -i few.source --use-cpu --beam-size 3 --output-type translation_with_score")
    command("translate", "-m plain -i few.source --use-cpu --beam-size 4 --nbest-size 2 --output-type json")
    command("translate", "-m plain -i few.source --use-cpu --beam-size 1 --greedy --batch-size 1")
    command("translate", "-m plain plain --checkpoints 1 2 -i few.source --use-cpu --beam-size 3 --output-type translation_with_score")
    command("translate",
            "-m other -i few.source --use-cpu --beam-size 2 --brevity-penalty-type learned --output-type translation_with_score")
    command("score", "-m plain -s dev.source -t dev.target --use-cpu --score-type logprob")
    command("score", "-m other -s dev.source -t dev.target --use-cpu --score-type neglogprob")


def files():
    command("average", "-n 2 --output averaged plain")
    for name, array in sorted(mx.nd.load("averaged").items())[::7]:
        print("average", name, array.shape, f"{array.abs().mean().asscalar():.5f}")
    command("extract_parameters", "plain --names output_layer.weight --output extracted")
    print("extract", [(name, np.load("extracted.npz")[name].shape) for name in np.load("extracted.npz").files])
    command("evaluate", "-r dev.target -i dev.target --metrics bleu chrf rouge1")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    sentences()
    for program in (training, translation, files):
        program()
    os.chdir("/")
