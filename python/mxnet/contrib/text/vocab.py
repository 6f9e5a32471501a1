"""Tokens and their indices."""
import collections

from ...base import CheckedTypeError, CheckedValueError
from . import _constants as C

__all__ = ["Vocabulary"]


class Vocabulary:
    """Numbers tokens: the unknown token is 0, then come reserved tokens, then those of a counter,
    the most frequent first, and equally frequent ones in alphabetical order.

    Parameters
    ----------
    counter : collections.Counter, optional
        Tokens and how often they occur. Tokens are strings, or anything else that can be hashed and
        compared.
    most_freq_count : int, optional
        Take no more than so many of the counter's tokens.
    min_freq : int
        Take those that occur so many times or more often; at least 1.
    unknown_token : hashable
        What stands for all tokens that have no index.
    reserved_tokens : list of hashable, optional
        Tokens that have an index in any case.

    Raises
    ------
    AssertionError
        if `counter` is no Counter, `min_freq` is not positive, or a reserved token is there twice
        or is the unknown one.

    >>> vocabulary = Vocabulary(collections.Counter(['b', 'a', 'b', 'c']), min_freq=1, reserved_tokens=['<pad>'])
    >>> vocabulary.idx_to_token
    ['<unk>', '<pad>', 'b', 'a', 'c']
    >>> vocabulary.to_indices(['b', 'x'])
    [2, 0]
    """

    def __init__(self, counter=None, most_freq_count=None, min_freq=1, unknown_token="<unk>", reserved_tokens=None):
        if not min_freq > 0:
            raise CheckedValueError(f"[Vocabulary] min_freq={min_freq}; `min_freq` must be set to a positive value.")
        if reserved_tokens is not None:
            if unknown_token in reserved_tokens:
                raise CheckedValueError(f"[Vocabulary] `reserved_token` cannot contain `unknown_token`: {unknown_token!r}")
            if len(set(reserved_tokens)) != len(reserved_tokens):
                raise CheckedValueError("[Vocabulary] `reserved_tokens` cannot contain duplicate reserved tokens.")
        self._index_unknown_and_reserved_tokens(unknown_token, reserved_tokens)
        if counter is not None:
            self._index_counter_keys(counter, unknown_token, reserved_tokens, most_freq_count, min_freq)

    def _index_unknown_and_reserved_tokens(self, unknown_token, reserved_tokens):
        self._unknown_token = unknown_token
        self._reserved_tokens = None if reserved_tokens is None else reserved_tokens[:]
        self._idx_to_token = [unknown_token, *(reserved_tokens or ())]
        self._token_to_idx = {token: i for i, token in enumerate(self._idx_to_token)}

    def _index_counter_keys(self, counter, unknown_token, reserved_tokens, most_freq_count, min_freq):
        if not isinstance(counter, collections.Counter):
            raise CheckedTypeError(f"[Vocabulary] counter is a {type(counter).__name__}; `counter` must be an instance of "
                                   "collections.Counter.")
        special = {unknown_token, *(reserved_tokens or ())}
        # Equal counts stay in the order of the first sorting.
        pairs = sorted(sorted(counter.items(), key=lambda pair: pair[0]), key=lambda pair: -pair[1])
        left = len(pairs) if most_freq_count is None or most_freq_count < 0 else most_freq_count
        for token, count in pairs:
            if count < min_freq or left < 1:
                break
            if token not in special:
                self._append(token)
                left -= 1

    def _append(self, token):
        self._token_to_idx[token] = len(self._idx_to_token)
        self._idx_to_token.append(token)

    def __len__(self):
        return len(self._idx_to_token)

    @property
    def token_to_idx(self):
        """Token to index, a dict."""
        return self._token_to_idx

    @property
    def idx_to_token(self):
        """The tokens in the order of their indices, a list."""
        return self._idx_to_token

    @property
    def unknown_token(self):
        """What stands for tokens without an index."""
        return self._unknown_token

    @property
    def reserved_tokens(self):
        """Tokens that have an index in any case, or None."""
        return self._reserved_tokens

    def to_indices(self, tokens):
        """The index of a token, or the list of indices of a list of tokens; 0 for unknown ones."""
        if isinstance(tokens, list):
            return [self._token_to_idx.get(token, C.UNKNOWN_IDX) for token in tokens]
        return self._token_to_idx.get(tokens, C.UNKNOWN_IDX)

    def to_tokens(self, indices):
        """The token of an index, or the list of tokens of a list of indices.

        Raises
        ------
        ValueError
            if there is no such index.
        """
        single = not isinstance(indices, list)
        tokens = []
        for index in [indices] if single else indices:
            try:
                tokens.append(self._idx_to_token[index])
            except (IndexError, TypeError):
                raise ValueError(f"[Vocabulary] Token index {index!r} in the provided `indices` is invalid; 0 to "
                                 f"{len(self) - 1} are accepted") from None
        return tokens[0] if single else tokens
