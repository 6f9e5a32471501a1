"""Texts for language models."""
import collections
import os
import warnings

import numpy

from ....util import default_array
from ....contrib.text import vocab as text_vocab
from ....contrib.text._archive import extract_member
from ...data import dataset
from ...utils import _data_dir, _get_repo_file_url, check_sha1, download

__all__ = ["WikiText103", "WikiText2"]

_EOS = "<eos>"


class _LanguageModelDataset(dataset.Dataset):
    """Samples of a text of tokens: pairs of `seq_len` indices, and the indices that follow each."""

    def __init__(self, root, namespace, vocabulary):
        self._namespace = namespace
        self._vocab = vocabulary
        self._counter = None
        self._root = os.path.expanduser(_data_dir("datasets", namespace) if root is None else root)
        os.makedirs(self._root, exist_ok=True)
        self._get_data()

    def _get_data(self):
        raise NotImplementedError

    @property
    def vocabulary(self):
        """The :class:`mxnet.contrib.text.vocab.Vocabulary` that gives tokens their indices."""
        return self._vocab

    @property
    def frequencies(self):
        """How often each token is in this text: a collections.Counter. The ends of lines are not
        counted."""
        return self._counter

    def __getitem__(self, idx):
        return self._data[idx], self._label[idx]

    def __len__(self):
        return len(self._label)


class _WikiText(_LanguageModelDataset):
    def _read_batch(self, filename):
        with open(filename, encoding="utf8") as lines:
            tokens = [line.split() for line in lines]
        tokens = [line for line in tokens if line]
        self._counter = collections.Counter(token for line in tokens for token in line)
        if self._vocab is None:
            self._vocab = text_vocab.Vocabulary(self._counter, reserved_tokens=[_EOS])
        indices = self._vocab.to_indices([token for line in tokens for token in (*line, _EOS)])
        count = max(len(indices) - 1, 0) // self._seq_len
        values = numpy.array(indices, numpy.int32)
        shape = count, self._seq_len
        return (default_array(values[:count * self._seq_len].reshape(shape), dtype="int32"),
                default_array(values[1:count * self._seq_len + 1].reshape(shape), dtype="int32"))

    def _get_data(self):
        name, sha1 = self._data_file[self._segment]
        path = os.path.join(self._root, name)
        if not os.path.exists(path):
            self._unpack(name, path)
        elif not check_sha1(path, sha1):
            warnings.warn(f"[gluon.contrib.data.text] {path} is not the published file (its SHA-1 differs from {sha1}); "
                          "it is used as it is", stacklevel=5)
        self._data, self._label = self._read_batch(path)

    def _unpack(self, name, path):
        """Take a file out of the archive, which is fetched unless it lies in the folder."""
        archive_name, sha1 = self._archive_file
        archive = os.path.join(self._root, archive_name)
        if not os.path.exists(archive):
            download(_get_repo_file_url("gluon/dataset/" + self._namespace, archive_name), archive, sha1_hash=sha1)
        extract_member(archive, name, path)


def _checked(segment, seq_len, files):
    if segment not in files:
        raise KeyError(f"[gluon.contrib.data.text] segment={segment!r}; {', '.join(files)} are accepted")
    if isinstance(seq_len, bool) or not isinstance(seq_len, (int, numpy.integer)):
        raise TypeError(f"[gluon.contrib.data.text] seq_len={seq_len!r}; an integer is accepted")
    if seq_len < 1:
        raise ValueError(f"[gluon.contrib.data.text] seq_len={seq_len}; at least 1 is accepted")


class WikiText2(_WikiText):
    """WikiText-2: good articles of Wikipedia, two million words (Merity, Xiong, Bradbury and
    Socher, 2016).

    Samples are pairs of NDArrays of shape (seq_len,), int32: indices of tokens, and those of the
    tokens that follow them. Each line ends with the token <eos>; empty lines are left out.

    Parameters
    ----------
    root : str
        Folder with ``wiki.train.tokens``, ``wiki.valid.tokens`` and ``wiki.test.tokens``, or with
        the archive ``wikitext-2-v1.zip``, which is fetched if nothing is there. Files of one's own
        under these names are used, with a warning.
    segment : str
        'train', 'validation' or 'test'.
    vocab : mxnet.contrib.text.vocab.Vocabulary, optional
        The indices of tokens. Without it they are made of this text, with <eos> as reserved token.
    seq_len : int
        Length of a sample.

    Raises
    ------
    KeyError, TypeError, ValueError
        if there is no such segment, or `seq_len` is no integer, or none above 0.

    >>> with open('wiki.test.tokens', 'w') as out:
    ...     _ = out.write('a b a b\\n a c \\n')
    >>> import warnings
    >>> warnings.simplefilter('ignore')
    >>> data = WikiText2('.', 'test', seq_len=3)
    >>> [part.asnumpy().tolist() for part in data[0]], data.vocabulary.idx_to_token
    ([[2, 3, 2], [3, 2, 3]], ['<unk>', '<eos>', 'a', 'b', 'c'])
    """

    _archive_file = ("wikitext-2-v1.zip", "3c914d17d80b1459be871a5039ac23e752a53cbe")
    _data_file = {"train": ("wiki.train.tokens", "863f29c46ef9d167fff4940ec821195882fe29d1"),
                  "validation": ("wiki.valid.tokens", "0418625c8b4da6e4b5c7a0b9e78d4ae8f7ee5422"),
                  "test": ("wiki.test.tokens", "c7b8ce0aa086fb34dab808c5c49224211eb2b172")}

    def __init__(self, root=_data_dir("datasets", "wikitext-2"), segment="train", vocab=None, seq_len=35):
        _checked(segment, seq_len, self._data_file)
        self._segment, self._seq_len = segment, seq_len
        super().__init__(root, "wikitext-2", vocab)


class WikiText103(_WikiText):
    """WikiText-103: the like of :class:`WikiText2` with 103 million words. The archive is
    ``wikitext-103-v1.zip``."""

    _archive_file = ("wikitext-103-v1.zip", "0aec09a7537b58d4bb65362fee27650eeaba625a")
    _data_file = {"train": ("wiki.train.tokens", "b7497e2dfe77e72cfef5e3dbc61b7b53712ac211"),
                  "validation": ("wiki.valid.tokens", "c326ac59dc587676d58c422eb8a03e119582f92b"),
                  "test": ("wiki.test.tokens", "8a5befc548865cec54ed4273cf87dbbad60d1e47")}

    def __init__(self, root=_data_dir("datasets", "wikitext-103"), segment="train", vocab=None, seq_len=35):
        _checked(segment, seq_len, self._data_file)
        self._segment, self._seq_len = segment, seq_len
        super().__init__(root, "wikitext-103", vocab)
