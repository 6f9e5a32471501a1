"""Counting of tokens."""
import collections
import re

__all__ = ["count_tokens_from_str"]


def count_tokens_from_str(source_str, token_delim=" ", seq_delim="\n", to_lower=False, counter_to_update=None):
    """How often each token is in a text.

    Parameters
    ----------
    source_str : str
        The text: sequences of tokens.
    token_delim, seq_delim : str
        Regular expressions of what stands between tokens, and between sequences.
    to_lower : bool
        Count letters as small ones.
    counter_to_update : collections.Counter, optional
        Add to this one.

    Returns
    -------
    collections.Counter
        Token to number; `counter_to_update` if it is given.

    >>> sorted(count_tokens_from_str('a b\\nb c').items())
    [('a', 1), ('b', 2), ('c', 1)]
    """
    tokens = [token for token in re.split(token_delim + "|" + seq_delim, source_str) if token]
    if to_lower:
        tokens = [token.lower() for token in tokens]
    counter = collections.Counter() if counter_to_update is None else counter_to_update
    if not isinstance(counter, collections.Counter):
        raise ValueError(f"[count_tokens_from_str] counter_to_update is a {type(counter).__name__}; a Counter is accepted")
    counter.update(tokens)
    return counter
