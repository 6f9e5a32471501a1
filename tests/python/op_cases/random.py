"""Random operators: their numbers are tested in test_random.py."""
CASES = []
_FAMILIES = ["uniform", "normal", "gamma", "exponential", "poisson", "negative_binomial", "generalized_negative_binomial"]
COVERED_ELSEWHERE = {op: "test_random.py" for op in
                     [f"_random_{f}" for f in _FAMILIES] + [f"_random_{f}_like" for f in _FAMILIES] + [f"_sample_{f}" for f in _FAMILIES] +
                     ["_random_randint", "_sample_multinomial", "_shuffle"]}
COVERED_ELSEWHERE.update({op: "test_random_sets.py" for op in
                          ["_random_binomial", "_sample_binomial", "_sample_categorical",
                           "_npx__random_multinomial", "_sample_unique_zipfian"]})
COVERED_ELSEWHERE.update({f"_npi_{name}": "test_numpy_random.py" for name in
                          ["bernoulli", "choice", "exponential", "gamma", "gumbel", "laplace", "logistic", "multinomial",
                           "normal", "normal_n", "pareto", "powerd", "rayleigh", "uniform", "uniform_n", "weibull"]})
