"""Tests of random generators. Those of distributions need SciPy."""
import numpy as np

__all__ = ["chi_square_check", "gen_buckets_probs_with_ppf", "mean_check", "var_check", "verify_generator"]


def gen_buckets_probs_with_ppf(ppf, nbuckets):
    """Intervals of equal probability from an inverse distribution function, and their
    probabilities.

    >>> mx.test_utils.gen_buckets_probs_with_ppf(lambda p: 10 * p, 2)
    ([(0.0, 5.0), (5.0, 10.0)], [0.5, 0.5])
    """
    if nbuckets < 1:
        raise ValueError(f"[gen_buckets_probs_with_ppf] {nbuckets} buckets")
    edges = [ppf(i / float(nbuckets)) for i in range(nbuckets + 1)]
    return list(zip(edges, edges[1:])), [1.0 / nbuckets] * nbuckets


def _within(value, expected, deviation):
    return expected - 3 * deviation < value < expected + 3 * deviation


def mean_check(generator, mu, sigma, nsamples=1000000):
    """Whether the mean of ``generator(nsamples)`` is within three deviations of `mu`.

    >>> import numpy
    >>> mx.test_utils.mean_check(lambda n: numpy.random.normal(5, 2, n), 5, 2, nsamples=10000)
    True
    """
    samples = np.array(generator(nsamples))
    return bool(_within(samples.mean(), mu, sigma / np.sqrt(nsamples)))


def var_check(generator, sigma, nsamples=1000000):
    """Whether the variance of ``generator(nsamples)``, normally distributed, is within three
    deviations of sigma ** 2.

    >>> import numpy
    >>> mx.test_utils.var_check(lambda n: numpy.random.normal(5, 2, n), 2, nsamples=10000)
    True
    """
    samples = np.array(generator(nsamples))
    return bool(_within(samples.var(ddof=1), sigma ** 2, np.sqrt(2.0 * sigma ** 4 / (nsamples - 1))))


def chi_square_check(generator, buckets, probs, nsamples=1000000):
    """Pearson's test of samples against the probabilities of intervals, or of values.

    Parameters
    ----------
    generator : callable
        From a number to so many samples.
    buckets : list of (float, float), or list of values
    probs : list of float
    nsamples : int

    Returns
    -------
    (float, numpy.ndarray, numpy.ndarray)
        The p-value, and the counts that were found and expected.

    Examples
    --------
    >>> buckets, probabilities = mx.test_utils.gen_buckets_probs_with_ppf(lambda p: p, 5)
    >>> draw = lambda count: mx.nd.random.uniform(shape=count).asnumpy()
    >>> p, found, expected = mx.test_utils.chi_square_check(draw, buckets, probabilities, 10000)
    >>> bool(p > 0.001), expected
    (True, array([2000., 2000., 2000., 2000., 2000.]))
    """
    from scipy import stats
    expected = np.asarray(probs, dtype=np.float64) * nsamples
    samples = np.asarray(generator(nsamples)).ravel()
    if len(samples) != nsamples:
        raise ValueError(f"[chi_square_check] the generator returned {len(samples)} samples, {nsamples} were asked for")
    if isinstance(buckets[0], (list, tuple)):
        found = np.array([((low <= samples) & (samples < high)).sum() for low, high in buckets], dtype=np.float64)
    else:
        found = np.array([(samples == value).sum() for value in buckets], dtype=np.float64)
    # chisquare wants equal sums; samples outside of all intervals count against the generator
    outside = nsamples - found.sum()
    if outside > max(10.0, 1e-3 * nsamples):
        return 0.0, found, expected
    _, p = stats.chisquare(found, expected * (found.sum() / expected.sum()))
    return p, found, expected


def verify_generator(generator, buckets, probs, nsamples=1000000, nrepeat=5, success_rate=0.2, alpha=0.05):
    """Repeat :func:`chi_square_check`; raise AssertionError unless the share `success_rate` has
    p-values above `alpha`.

    Returns the p-values.

    >>> buckets, probabilities = mx.test_utils.gen_buckets_probs_with_ppf(lambda p: p, 5)
    >>> draw = lambda count: mx.nd.random.uniform(shape=count).asnumpy()
    >>> len(mx.test_utils.verify_generator(draw, buckets, probabilities, nsamples=10000))
    5
    """
    results = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    p_values = [p for p, _, _ in results]
    if sum(p > alpha for p in p_values) < nrepeat * success_rate:
        raise AssertionError(f"Generator test fails: p-values {p_values}, buckets {buckets}, "
                             f"found {results[-1][1]}, expected {results[-1][2]}")
    return p_values
