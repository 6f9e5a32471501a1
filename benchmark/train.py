#!/usr/bin/env python3
"""A training step (forward, softmax cross-entropy, backward, SGD with momentum): this library,
1.9.1 and PyTorch (eager, compiled) in turn, in one run.

    ./dev bench train [--oracle PYTHON] [--peers PYTHON] [--models NAME,...] [--batch N,...]
    [--contestants NAME,...] [--write-docs]

Every contestant starts from the same network and weights (networks.py). Printed as Markdown: images
(sequences, for BERT) per second as medians over rounds, how many times faster this library is than
the best other one, and peak resident memory against that after import.
"""
import race

if __name__ == "__main__":
    models = ["alexnet", "inception_v3", "resnet50", "bert_base"]
    race.Race("train", race.parse(__doc__, "train", models, [16], rounds=5)).run()
