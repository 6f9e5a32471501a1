"""What the digit examples share: data, network, accuracy."""
import numpy as np

import mxnet as mx

CLASSES = 10


def load():
    """scikit-learn's 1,797 scans of 8x8 pixels, scaled to [0, 1]: (train images, train labels, test
    images, test labels); a fifth is held out."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    data = load_digits()
    images = (data.images / 16.0).astype("float32").reshape(-1, 1, 8, 8)
    labels = data.target.astype("float32")
    a, b, c, d = train_test_split(images, labels, test_size=0.2, random_state=7, stratify=labels)
    return a, c, b, d


def network(prefix="digits_"):
    """A small convolutional net; 10 outputs, no softmax."""
    from mxnet.gluon import nn
    net = nn.HybridSequential(prefix=prefix)
    with net.name_scope():
        net.add(nn.Conv2D(32, kernel_size=3, padding=1), nn.BatchNorm(), nn.Activation("relu"),
                nn.Conv2D(32, kernel_size=3, padding=1), nn.BatchNorm(), nn.Activation("relu"),
                nn.MaxPool2D(2),
                nn.Conv2D(64, kernel_size=3, padding=1), nn.BatchNorm(), nn.Activation("relu"),
                nn.MaxPool2D(2),
                nn.Flatten(), nn.Dropout(0.3), nn.Dense(128, activation="relu"), nn.Dropout(0.3), nn.Dense(CLASSES))
    return net


def augment(images, rng):
    """The images moved by up to one pixel each way; a new set for each epoch."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.empty_like(images)
    for i, (y, x) in enumerate(rng.integers(0, 3, size=(len(images), 2))):
        out[i] = padded[i, :, y:y + 8, x:x + 8]
    return out


def accuracy(scores, labels):
    """Share of rows whose largest score is the label's."""
    return float((np.argmax(scores, axis=1) == labels).mean())


def seed(value=3):
    """The same run each time."""
    mx.random.seed(value)
    np.random.seed(value)
    return np.random.default_rng(value)
