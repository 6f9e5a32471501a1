"""Prints, as JSON, what scikit-learn and SciPy give for arrays of mx.np and for NumPy's through the
array API: run by test_array_api_clients.py in a process of its own, because SciPy reads a variable
when it is imported."""

import json
import os
import sys

os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as onp  # noqa: E402
import scipy.cluster.vq  # noqa: E402
import scipy.integrate  # noqa: E402
import scipy.spatial.distance  # noqa: E402
import scipy.special  # noqa: E402
import scipy.stats  # noqa: E402
import sklearn  # noqa: E402
from sklearn import metrics  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.preprocessing import MinMaxScaler, Normalizer, PolynomialFeatures, StandardScaler  # noqa: E402

import mxnet as mx  # noqa: E402

rng = onp.random.default_rng(0)
X = rng.normal(size=(40, 4))
LABELS = (X[:, 0] > 0).astype("int64")
TARGETS = X @ onp.array([1.0, 2.0, 3.0, 4.0]) + 0.1

CASES = {
    "StandardScaler": lambda x, c, t: StandardScaler().fit_transform(x),
    "MinMaxScaler": lambda x, c, t: MinMaxScaler().fit_transform(x),
    "Normalizer": lambda x, c, t: Normalizer().fit_transform(x),
    "PolynomialFeatures": lambda x, c, t: PolynomialFeatures(2).fit_transform(x),
    "PCA": lambda x, c, t: abs(PCA(2, svd_solver="full").fit_transform(x)),
    "PCA by covariance": lambda x, c, t: abs(PCA(2, svd_solver="covariance_eigh").fit_transform(x)),
    "Ridge": lambda x, c, t: Ridge(solver="svd").fit(x, t).predict(x),
    "LDA": lambda x, c, t: LinearDiscriminantAnalysis().fit(x, c).predict(x),
    "mean_squared_error": lambda x, c, t: metrics.mean_squared_error(t, t * 1.1),
    "r2_score": lambda x, c, t: metrics.r2_score(t, t * 1.1),
    "f1_score": lambda x, c, t: metrics.f1_score(c, 1 - c[::-1]),
    "confusion_matrix": lambda x, c, t: metrics.confusion_matrix(c, 1 - c[::-1]),
    "euclidean_distances": lambda x, c, t: metrics.pairwise.euclidean_distances(x, x[:3]),
    "rbf_kernel": lambda x, c, t: metrics.pairwise.rbf_kernel(x, x[:3]),
    "expit": lambda x, c, t: scipy.special.expit(x),
    "logsumexp": lambda x, c, t: scipy.special.logsumexp(x, axis=1),
    "zscore": lambda x, c, t: scipy.stats.zscore(x),
    "kurtosis": lambda x, c, t: scipy.stats.kurtosis(x),
    "pearsonr": lambda x, c, t: scipy.stats.pearsonr(x[:, 0], x[:, 1]).statistic,
    "ttest_ind": lambda x, c, t: scipy.stats.ttest_ind(x[:, 0], x[:, 1]).pvalue,
    "gmean": lambda x, c, t: scipy.stats.gmean(abs(x)),
    "whiten": lambda x, c, t: scipy.cluster.vq.whiten(x),
    "vq": lambda x, c, t: scipy.cluster.vq.vq(x, x[:2])[0],
    "trapezoid": lambda x, c, t: scipy.integrate.trapezoid(x),
    "cdist": lambda x, c, t: scipy.spatial.distance.cdist(x, x[:3]),
}


def plain(result):
    """Values as lists."""
    return result.tolist() if hasattr(result, "tolist") else float(result)


def main():
    """Runs all cases with both libraries' arrays."""
    theirs = (X, LABELS, TARGETS)
    ours = tuple(mx.np.array(a, dtype=a.dtype) for a in theirs)
    found = {}
    with sklearn.config_context(array_api_dispatch=True):
        for name, case in CASES.items():
            result = case(*ours)
            found[name] = [type(result).__module__, plain(result), plain(case(*theirs))]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
