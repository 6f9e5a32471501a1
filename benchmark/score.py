#!/usr/bin/env python3
"""Inference of eight networks: this library, 1.9.1 (plain and with its MKLDNN subgraphs), PyTorch,
ONNX Runtime and OpenVINO in turn, in one run.

    ./dev bench score [--oracle PYTHON] [--peers PYTHON] [--models NAME,...] [--batch N,...]
    [--contestants NAME,...] [--write-docs]

Every contestant computes the same network with the same weights (networks.py), checked on the
outputs. Printed as Markdown: images (sequences, for BERT) per second as medians over rounds, how
many times faster this library is than the best other one, and peak resident memory.
"""
import race

MODELS = ["alexnet", "vgg16", "inception_bn", "inception_v3", "resnet50", "resnet152", "mobilenet_v2", "bert_base"]

if __name__ == "__main__":
    race.Race("score", race.parse(__doc__, "score", MODELS, [1, 2, 4, 8, 16, 32], rounds=7)).run()
