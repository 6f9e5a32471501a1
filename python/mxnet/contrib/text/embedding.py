"""Vectors of tokens, from files of text."""
import io
import logging
import os
import warnings

import numpy

from ... import ndarray as nd
from ... import registry
from ...base import CheckedTypeError, CheckedValueError
from ...gluon.utils import _data_dir, _get_repo_url, check_sha1, download
from . import _constants as C
from . import vocab
from ._archive import extract_member

__all__ = ["CompositeEmbedding", "CustomEmbedding", "FastText", "GloVe", "create", "get_pretrained_file_names", "register"]

_LARGE_FILE = 1 << 26       # bytes; progress of reading larger ones is shown


def _lines(path, encoding):
    """The lines of a file, with a bar of progress if it is large and tqdm is installed."""
    size = os.path.getsize(path)
    bar = None
    if size > _LARGE_FILE:
        try:
            from tqdm import tqdm
            bar = tqdm(total=size, unit="B", unit_scale=True, desc=os.path.basename(path))
        except ImportError:
            pass
    try:
        with open(path, "rb") as binary, io.TextIOWrapper(binary, encoding=encoding) as lines:
            for number, line in enumerate(lines):
                yield line
                if bar is not None and number % 4096 == 0:
                    bar.update(binary.tell() - bar.n)
    finally:
        if bar is not None:
            bar.close()


class _TokenEmbedding(vocab.Vocabulary):
    """A vocabulary whose tokens have vectors. Keywords are those of
    :class:`mxnet.contrib.text.vocab.Vocabulary`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._idx_to_vec = None
        self._vec_len = 0

    @property
    def vec_len(self):
        """The length of the vectors."""
        return self._vec_len

    @property
    def idx_to_vec(self):
        """The vectors in the order of the tokens' indices: NDArray of shape (len(self), vec_len),
        float32."""
        return self._idx_to_vec

    # -- published files --
    @classmethod
    def _get_download_file_name(cls, pretrained_file_name):
        return pretrained_file_name

    @classmethod
    def _get_pretrained_file_url(cls, pretrained_file_name):
        return f"{_get_repo_url()}gluon/embeddings/{cls.__name__.lower()}/{cls._get_download_file_name(pretrained_file_name)}"

    @classmethod
    def _check_pretrained_file_names(cls, pretrained_file_name):
        known = getattr(cls, "pretrained_file_name_sha1", {})
        if pretrained_file_name not in known:
            name = cls.__name__.lower()
            raise KeyError(f"Cannot find pretrained file {pretrained_file_name} for token embedding {name}. Valid pretrained "
                           f"files for embedding {name}: {', '.join(known)}")

    @classmethod
    def _get_pretrained_file(cls, embedding_root, pretrained_file_name):
        """The path of a published file, fetched if it is not there. A file of this name in
        `embedding_root` is taken as it is, with a warning if it is not the published one."""
        folder = os.path.join(os.path.expanduser(embedding_root), cls.__name__.lower())
        path = os.path.join(folder, pretrained_file_name)
        sha1 = cls.pretrained_file_name_sha1[pretrained_file_name]
        if os.path.exists(path):
            if not check_sha1(path, sha1):
                warnings.warn(f"[text.embedding] {path} is not the published file (its SHA-1 differs from {sha1}); "
                              "it is used as it is", stacklevel=4)
            return path
        os.makedirs(folder, exist_ok=True)
        archive_name = cls._get_download_file_name(pretrained_file_name)
        archives = getattr(cls, "pretrained_archive_name_sha1", {})
        archive = download(cls._get_pretrained_file_url(pretrained_file_name), os.path.join(folder, archive_name),
                           sha1_hash=archives.get(archive_name, sha1))
        if archive != path:
            extract_member(archive, pretrained_file_name, path)
        return path

    # -- reading --
    def _load_embedding(self, pretrained_file_path, elem_delim, init_unknown_vec, encoding="utf8"):
        """Read a file of lines: a token, and the elements of its vector."""
        path = os.path.expanduser(pretrained_file_path)
        if not os.path.isfile(path):
            raise ValueError(f"[text.embedding] {path}: `pretrained_file_path` must be a valid path to the pre-trained token "
                             "embedding file.")
        logging.info("Loading pre-trained token embedding vectors from %s", path)
        vectors, rows, unknown = [], {}, None
        for number, line in enumerate(_lines(path, encoding), 1):
            token, *elems = line.rstrip().split(elem_delim)
            where = f"At line {number} of the pre-trained token embedding file"
            if not elems:
                raise CheckedValueError(f"[text.embedding] {where}: the data format of the pre-trained token embedding file "
                                        f"{path} is unexpected.")
            try:
                elems = [float(elem) for elem in elems]
            except ValueError as error:
                raise ValueError(f"[text.embedding] {where}, {path}: {error}") from None
            if (token == self.unknown_token and unknown is not None) or token in rows:
                warnings.warn(f"{where}: the embedding vector for token {token} has been loaded and a duplicate embedding "
                              "for the  same token is seen and skipped.", stacklevel=4)
            elif len(elems) == 1:
                warnings.warn(f"At line {number} of the pre-trained text embedding file: token {token} with 1-dimensional vector "
                              f"{elems} is likely a header and is skipped.",
                              stacklevel=4)
            else:
                if self._vec_len and len(elems) != self._vec_len:
                    raise CheckedValueError(f"[text.embedding] {where}: the dimension of token {token} is {len(elems)} but the "
                                            f"dimension of previous tokens is {self._vec_len}. Dimensions of all the tokens "
                                            "must be the same.")
                self._vec_len = len(elems)
                vector = numpy.array(elems, numpy.float32)
                if token == self.unknown_token:
                    unknown = vector
                else:
                    rows[token] = len(vectors)
                    vectors.append(vector)
        if not self._vec_len:
            raise ValueError(f"[text.embedding] {path} has no vectors of two or more elements")
        for token in rows:
            if token not in self._token_to_idx:
                self._append(token)
        if unknown is None:
            unknown = init_unknown_vec(shape=self._vec_len)
            unknown = unknown.asnumpy() if isinstance(unknown, nd.NDArray) else numpy.asarray(unknown)
        table = numpy.empty((len(self), self._vec_len), numpy.float32)
        table[:] = unknown
        for token, row in rows.items():
            table[self._token_to_idx[token]] = vectors[row]
        self._idx_to_vec = nd.array(table)

    # -- vocabularies --
    def _index_tokens_from_vocabulary(self, vocabulary):
        self._token_to_idx = vocabulary.token_to_idx.copy() if vocabulary.token_to_idx is not None else None
        self._idx_to_token = vocabulary.idx_to_token[:] if vocabulary.idx_to_token is not None else None
        self._unknown_token = vocabulary.unknown_token
        self._reserved_tokens = vocabulary.reserved_tokens[:] if vocabulary.reserved_tokens is not None else None

    def _set_idx_to_vec_by_embeddings(self, token_embeddings, vocab_len, vocab_idx_to_token):
        """Set the vectors: those of several embeddings, one behind the other."""
        parts = []
        for embedding in token_embeddings:
            # The unknown token of the vocabulary is that of the embedding, whatever its name.
            parts.append(embedding.get_vecs_by_tokens([embedding.unknown_token, *vocab_idx_to_token[1:]]))
        self._vec_len = sum(embedding.vec_len for embedding in token_embeddings)
        self._idx_to_vec = nd.concat(*parts, dim=1) if len(parts) > 1 else parts[0]

    def _build_embedding_for_vocabulary(self, vocabulary):
        if vocabulary is None:
            return
        _check_vocabulary(vocabulary)
        self._set_idx_to_vec_by_embeddings([self], len(vocabulary), vocabulary.idx_to_token)
        self._index_tokens_from_vocabulary(vocabulary)

    # -- vectors --
    def get_vecs_by_tokens(self, tokens, lower_case_backup=False):
        """Vectors of tokens; those without an index have that of the unknown token.

        Parameters
        ----------
        tokens : str or list of str
        lower_case_backup : bool
            Try small letters where a token has no index.

        Returns
        -------
        NDArray
            Of shape (vec_len,), or (len(tokens), vec_len) for a list.
        """
        single = not isinstance(tokens, list)
        wanted = [tokens] if single else tokens
        if lower_case_backup:
            wanted = [token if token in self._token_to_idx else token.lower() for token in wanted]
        if not wanted:
            return nd.array(numpy.zeros((0, self._vec_len), numpy.float32))
        vectors = nd.take(self._idx_to_vec, nd.array(self.to_indices(wanted), dtype="int64"), axis=0)
        return vectors[0] if single else vectors

    def update_token_vectors(self, tokens, new_vectors):
        """Replace vectors of tokens.

        Parameters
        ----------
        tokens : str or list of str
            Tokens that have an index. That of all others is changed by naming `unknown_token`.
        new_vectors : NDArray
            Of shape (vec_len,) for one token, or (len(tokens), vec_len).

        Raises
        ------
        ValueError
            if a token has no index.
        AssertionError
            if `new_vectors` has another shape.
        """
        if self._idx_to_vec is None:
            raise CheckedValueError("[text.embedding] The property `idx_to_vec` has not been properly set.")
        single = not isinstance(tokens, list) or len(tokens) == 1
        if not isinstance(new_vectors, nd.NDArray) or new_vectors.ndim not in ((1, 2) if single else (2,)):
            raise CheckedValueError("[text.embedding] `new_vectors` must be a "
                                    + ("1-D or 2-D NDArray if `tokens` is a singleton." if single
                                       else "2-D NDArray if `tokens` is a list of multiple strings."))
        tokens = tokens if isinstance(tokens, list) else [tokens]
        if new_vectors.ndim == 1:
            new_vectors = new_vectors.expand_dims(0)
        if new_vectors.shape != (len(tokens), self._vec_len):
            raise CheckedValueError(f"[text.embedding] new_vectors of shape {new_vectors.shape}; the length of new_vectors must "
                                    "be equal to the number of tokens and its width to the dimension of the embeddings: "
                                    f"{(len(tokens), self._vec_len)}")
        for token in tokens:
            if token not in self._token_to_idx:
                raise ValueError(f"[text.embedding] Token {token} is unknown. To update the embedding vector for an unknown "
                                 f"token, please specify it explicitly as the `unknown_token` {self._unknown_token} in "
                                 "`tokens`. This is to avoid unintended updates.")
        table = self._idx_to_vec.asnumpy()
        table[[self._token_to_idx[token] for token in tokens]] = new_vectors.asnumpy()
        self._idx_to_vec[:] = nd.array(table)


def _check_vocabulary(vocabulary):
    if not isinstance(vocabulary, vocab.Vocabulary):
        raise CheckedTypeError(f"[text.embedding] vocabulary is a {type(vocabulary).__name__}; the argument `vocabulary` must be "
                               "an instance of mxnet.contrib.text.vocab.Vocabulary.")


_register = registry.get_register_func(_TokenEmbedding, "token embedding")
_create = registry.get_create_func(_TokenEmbedding, "token embedding")


def register(embedding_cls):
    """Let :func:`create` know a class, under its name in small letters.

    >>> @register
    ... class Zeros(_TokenEmbedding):
    ...     pass
    >>> len(create('zeros'))
    1
    """
    return _register(embedding_cls)


def create(embedding_name, **kwargs):
    """An embedding from the name of its class, such as 'glove' or 'fasttext'; keywords are for its
    constructor."""
    return _create(embedding_name, **kwargs)


def get_pretrained_file_names(embedding_name=None):
    """Names of published files: a list for one embedding, {embedding: list} without a name.

    >>> get_pretrained_file_names('glove')[1]
    'glove.6B.50d.txt'
    """
    known = {name: list(getattr(cls, "pretrained_file_name_sha1", {}))
             for name, cls in registry.get_registry(_TokenEmbedding).items()}
    if embedding_name is None:
        return known
    if embedding_name not in known:
        raise KeyError(f"Cannot find `embedding_name` {embedding_name}. Use `get_pretrained_file_names(embedding_name=None)"
                       ".keys()` to get all the valid embedding names.")
    return known[embedding_name]


class _PublishedEmbedding(_TokenEmbedding):
    """An embedding from a published file."""

    def __init__(self, pretrained_file_name, embedding_root, init_unknown_vec, vocabulary, **kwargs):
        self._check_pretrained_file_names(pretrained_file_name)
        super().__init__(**kwargs)
        path = self._get_pretrained_file(embedding_root, pretrained_file_name)
        self._load_embedding(path, " ", init_unknown_vec)
        self._build_embedding_for_vocabulary(vocabulary)


@register
class GloVe(_PublishedEmbedding):
    """GloVe: Global Vectors for Word Representation (Pennington, Socher and Manning, 2014).

    Parameters
    ----------
    pretrained_file_name : str
        One of ``get_pretrained_file_names('glove')``.
    embedding_root : str
        The file is looked for in the folder ``glove`` below, and put there when it is fetched.
    init_unknown_vec : callable
        Makes the vector of the unknown token, ``init_unknown_vec(shape=n)``, if the file has none.
    vocabulary : Vocabulary, optional
        Keep the tokens of this vocabulary, with their indices.
    **kwargs
        For :class:`mxnet.contrib.text.vocab.Vocabulary`.

    Raises
    ------
    KeyError
        if there is no such published file.
    """

    pretrained_archive_name_sha1 = C.GLOVE_PRETRAINED_FILE_SHA1
    pretrained_file_name_sha1 = C.GLOVE_PRETRAINED_ARCHIVE_SHA1

    def __init__(self, pretrained_file_name="glove.840B.300d.txt", embedding_root=_data_dir("embeddings"),
                 init_unknown_vec=nd.zeros, vocabulary=None, **kwargs):
        super().__init__(pretrained_file_name, embedding_root, init_unknown_vec, vocabulary, **kwargs)

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name):
        # Files of several lengths are in one archive.
        base = pretrained_file_name[:-len(".txt")]
        for archive in cls.pretrained_archive_name_sha1:
            if base == archive[:-len(".zip")] or base.rpartition(".")[0] == archive[:-len(".zip")]:
                return archive
        return base + ".zip"


@register
class FastText(_PublishedEmbedding):
    """fastText: vectors with information of subwords (Bojanowski, Grave, Joulin and Mikolov, 2017).

    Parameters are those of :class:`GloVe`, with the folder ``fasttext``.
    """

    pretrained_archive_name_sha1 = C.FAST_TEXT_ARCHIVE_SHA1
    pretrained_file_name_sha1 = C.FAST_TEXT_FILE_SHA1

    def __init__(self, pretrained_file_name="wiki.simple.vec", embedding_root=_data_dir("embeddings"),
                 init_unknown_vec=nd.zeros, vocabulary=None, **kwargs):
        super().__init__(pretrained_file_name, embedding_root, init_unknown_vec, vocabulary, **kwargs)

    @classmethod
    def _get_download_file_name(cls, pretrained_file_name):
        return pretrained_file_name[:-len(".vec")] + ".zip"


class CustomEmbedding(_TokenEmbedding):
    """Vectors from a file of one's own.

    Each line has a token and the elements of its vector, with `elem_delim` between them. A line
    with a single number is taken for a header and skipped with a warning, and so is a token that
    was there before.

    Parameters
    ----------
    pretrained_file_path : str
        The file.
    elem_delim : str
        What stands between elements.
    encoding : str
        The encoding of the file.
    init_unknown_vec, vocabulary, **kwargs
        As in :class:`GloVe`.

    Raises
    ------
    ValueError
        if there is no such file, or an element is no number.
    AssertionError
        if a line has no vector, or one of another length.

    >>> with open('vectors.txt', 'w') as out:
    ...     _ = out.write('hello 1 2\\nworld 3 4\\n')
    >>> CustomEmbedding('vectors.txt').get_vecs_by_tokens('world').asnumpy().tolist()
    [3.0, 4.0]
    """

    def __init__(self, pretrained_file_path, elem_delim=" ", encoding="utf8", init_unknown_vec=nd.zeros, vocabulary=None,
                 **kwargs):
        super().__init__(**kwargs)
        self._load_embedding(pretrained_file_path, elem_delim, init_unknown_vec, encoding)
        self._build_embedding_for_vocabulary(vocabulary)


class CompositeEmbedding(_TokenEmbedding):
    """Vectors of several embeddings, one behind the other, for the tokens of a vocabulary.

    Parameters
    ----------
    vocabulary : Vocabulary
        The tokens.
    token_embeddings : embedding or list of embeddings
        Where the vectors come from.
    """

    def __init__(self, vocabulary, token_embeddings):
        _check_vocabulary(vocabulary)
        embeddings = list(token_embeddings) if isinstance(token_embeddings, (list, tuple)) else [token_embeddings]
        if not embeddings or not all(isinstance(embedding, _TokenEmbedding) for embedding in embeddings):
            raise CheckedTypeError(f"[CompositeEmbedding] token_embeddings={token_embeddings!r}; the argument `token_embeddings` "
                                   "must be an embedding of mxnet.contrib.text.embedding or a list of them")
        self._index_tokens_from_vocabulary(vocabulary)
        self._set_idx_to_vec_by_embeddings(embeddings, len(self), self.idx_to_token)
