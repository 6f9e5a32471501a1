"""Update operators and the optimizers that call them.

``UPDATES[op]`` returns the new weight and then the new states, in input order;
test_update_operators.py checks those. ``OPTIMIZERS`` are cases for test_optimizer.py: (name,
reference, options); ``steps`` makes a reference of a rule.
"""
import numpy as np

from op_cases import FLOATS, rand

MASTER_TOL = dict(float32=4e-5, float64=4e-5, float16=4e-2, bfloat16=0.32)    # states and weight32 are float32
S = (3, 5)


def f32(x):
    return float(np.float32(x))


def bound(x, limit):
    return np.clip(x, -limit, limit) if limit >= 0 else x


def options(names, defaults, given):
    """The operator's numbers, rounded to float32 as its parameters are."""
    return [f32(given.get(n, d)) for n, d in zip(names, defaults)]


COMMON = ["lr", "wd", "rescale_grad", "clip_gradient"]


def common(given):
    return options(COMMON, [0, 0, 1, -1], given)


def sgd(w, g, **kw):
    lr, wd, rescale, clip = common(kw)
    return [w - lr * (bound(rescale * g, clip) + wd * w)]


def sgd_mom(w, g, m, **kw):
    lr, wd, rescale, clip = common(kw)
    m = f32(kw.get("momentum", 0)) * m - lr * (bound(rescale * g, clip) + wd * w)
    return [w + m, m]


def nag(w, g, m, in_place=False, **kw):
    lr, wd, rescale, clip = common(kw)
    mu, g = f32(kw.get("momentum", 0)), bound(rescale * g, clip)
    step = lr * (g + wd * w)
    out = w + mu * (mu * m - step) - step
    return [out, mu * m - lr * (g + wd * (out if in_place else w))]


def nag_in_place(w, g, m, **kw):
    """The momentum decays with the weight that was just written, as in 1.9.1."""
    return nag(w, g, m, in_place=True, **kw)


IN_PLACE = {"nag_mom_update": nag_in_place}     # rules of updates that write over the weight


def means(g, m, v, kw):
    b1, b2 = options(["beta1", "beta2"], [0.9, 0.999], kw)
    return b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g


def adam(w, g, m, v, **kw):
    lr, wd, rescale, clip = common(kw)
    m, v = means(bound(rescale * g + wd * w, clip), m, v, kw)
    return [w - lr * m / (np.sqrt(v) + f32(kw.get("epsilon", 1e-8))), m, v]


def adamw(w, g, m, v, rescale, **kw):
    lr, wd, _, clip = common(kw)
    m, v = means(bound(rescale * g, clip), m, v, kw)
    return [w - f32(kw["eta"]) * (lr * m / (np.sqrt(v) + f32(kw.get("epsilon", 1e-8))) + wd * w), m, v]


def lamb1(w, g, m, v, **kw):
    _, wd, rescale, clip = common(kw)
    m, v = means(bound(rescale * g, clip), m, v, kw)
    b1, b2 = options(["beta1", "beta2"], [0.9, 0.999], kw)
    mh, vh = (m / (1 - b1 ** kw["t"]), v / (1 - b2 ** kw["t"])) if kw.get("bias_correction", True) else (m, v)
    return [mh / (np.sqrt(vh) + f32(kw.get("epsilon", 1e-6))) + wd * w, m, v]


def lamb2(w, g, r1, r2, **kw):
    low, high = kw.get("lower_bound", -1), kw.get("upper_bound", -1)
    norm = max(r1[0], low) if low >= 0 else r1[0]
    norm = min(norm, high) if high >= 0 else norm
    return [w - f32(kw["lr"]) * (norm / r2[0] if norm and r2[0] else 1) * g]


def adabelief(w, g, m, v, rescale, **kw):
    lr, wd, _, clip = common(kw)
    b1, b2, eps = options(["beta1", "beta2", "epsilon"], [0.9, 0.999, 1e-8], kw)
    g = bound(rescale * g + wd * w, clip)
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * (g - m) ** 2 + eps
    return [w - f32(kw["eta"]) * lr * m / (np.sqrt(v) + eps), m, v]


def norm_of(w, kw):
    norm, low, high = np.linalg.norm(w), kw.get("lower_bound", -1), kw.get("upper_bound", -1)
    norm = max(norm, low) if low >= 0 else norm
    return min(norm, high) if high >= 0 else norm


def scaled(direction, norm):
    of_direction = np.linalg.norm(direction)
    return direction * (norm / of_direction if norm and of_direction else 1)


def whole_lamb(w, g, m, v, **kw):
    direction, m, v = lamb1(w, g, m, v, **kw)
    return [w - f32(kw["lr"]) * scaled(direction, norm_of(w, kw)), m, v]


def lans(w, g, m, v, **kw):
    lr, wd, rescale, clip = common(kw)
    b1, b2, eps = options(["beta1", "beta2", "epsilon"], [0.9, 0.999, 1e-6], kw)
    g = rescale * g
    g = bound(g / (np.linalg.norm(g) or 1), clip)
    m, v = means(g, m, v, kw)
    size = np.sqrt(v / (1 - b2 ** kw["t"])) + eps
    norm, first, second = norm_of(w, kw), m / (1 - b1 ** kw["t"]) / size + wd * w, g / size + wd * w
    return [w - lr * (b1 * scaled(first, norm) + (1 - b1) * scaled(second, norm)), m, v]


def group_adagrad(w, g, h, **kw):
    lr, _, rescale, clip = common(kw)
    g = bound(rescale * g, clip)
    h = h + np.mean(g.reshape(len(w), -1) ** 2, axis=1).reshape(h.shape)
    return [w - lr * g / np.sqrt(h.reshape((-1,) + (1,) * (w.ndim - 1)) + f32(kw.get("epsilon", 1e-5))), h]


def adagrad(w, g, h, **kw):
    lr, wd, rescale, clip = common(kw)
    g = bound(rescale * g, clip)
    h = h + g * g
    return [w - lr * (g / np.sqrt(h + f32(kw.get("epsilon", 1e-7))) + wd * w), h]


def rmsprop(w, g, n, **kw):
    lr, wd, rescale, clip = common(kw)
    g = bound(rescale * g + wd * w, clip)
    gamma, eps = options(["gamma1", "epsilon"], [0.95, 1e-8], kw)
    n = gamma * n + (1 - gamma) * g * g
    return [bound(w - lr * g / np.sqrt(n + eps), f32(kw.get("clip_weights", -1))), n]


def rmspropalex(w, g, n, mean, delta, **kw):
    lr, wd, rescale, clip = common(kw)
    g = bound(rescale * g + wd * w, clip)
    g1, g2, eps = options(["gamma1", "gamma2", "epsilon"], [0.95, 0.9, 1e-8], kw)
    n, mean = g1 * n + (1 - g1) * g * g, g1 * mean + (1 - g1) * g
    delta = g2 * delta - lr * g / np.sqrt(n - mean * mean + eps)
    return [bound(w + delta, f32(kw.get("clip_weights", -1))), n, mean, delta]


def ftrl(w, g, z, n, **kw):
    lr, wd, rescale, clip = common(kw)
    l1, beta = options(["lamda1", "beta"], [0.01, 1], kw)
    g = bound(rescale * g, clip)
    z, n = z + g - (np.sqrt(n + g * g) - np.sqrt(n)) * w / lr, n + g * g
    return [np.where(np.abs(z) > l1, (np.sign(z) * l1 - z) / ((beta + np.sqrt(n)) / lr + wd), 0), z, n]


def ftml(w, g, d, v, z, **kw):
    lr, wd, rescale, _ = common(kw)
    b1, b2 = options(["beta1", "beta2"], [0.6, 0.999], kw)
    g = bound(rescale * g + wd * w, f32(kw.get("clip_grad", -1)))
    v = b2 * v + (1 - b2) * g * g
    new = (1 - b1 ** kw["t"]) / lr * (np.sqrt(v / (1 - b2 ** kw["t"])) + kw.get("epsilon", 1e-8))
    z = b1 * z + (1 - b1) * g - (new - b1 * d) * w
    return [-z / new, new, v, z]


def signsgd(w, g, **kw):
    lr, wd, *_ = common(kw)
    return [w * (1 - lr * wd) - lr * np.sign(g)]


def signum(w, g, m, **kw):
    lr, wd, rescale, clip = common(kw)
    mu = f32(kw.get("momentum", 0))
    m = mu * m - (1 - mu) * (wd * w + bound(rescale * g, clip))
    return [(1 - lr * f32(kw.get("wd_lh", 0))) * w + lr * np.sign(m), m]


def steps(rule, states, **defaults):
    """A reference for test_optimizer.py of an optimizer that runs the rule once for each gradient.

    It is sent gradients and changes the weight in place. `defaults` are the rule's numbers where
    the optimizer is not given others.
    """
    def run(w, options):
        numbers = dict(defaults, **options)
        numbers["lr"] = numbers.pop("learning_rate")
        arrays = [np.zeros_like(w) for _ in range(states)]
        while True:
            w[...], *arrays = rule(w, (yield), *arrays, **numbers)
    return run


def master(rule, keeps_weight=False):
    """The same on float32 copies; the copy of the weight is the last array, before a factor on the
    gradient if there is one."""
    def update(w, g, *rest, **kw):
        *states, copy = rest
        out = rule(copy, g, *states, **kw)
        return out if keeps_weight else out + [out[0]]
    return update


def mp_adamw(w, g, m, v, copy, rescale, **kw):
    out = adamw(copy, g, m, v, rescale, **kw)
    return out + [out[0]]


def mp_adabelief(w, g, m, v, copy, rescale, **kw):
    out = adabelief(copy, g, m, v, rescale, **kw)
    return out + [out[0]]


def many(rule, stride, preloaded=False):
    def update(*arrays, **kw):
        n = kw["num_weights"]
        lrs, wds = (arrays[-2], arrays[-1]) if preloaded else (kw["lrs"], kw["wds"])
        rest = {k: v for k, v in kw.items() if k not in ("lrs", "wds", "num_weights")}
        results = [rule(*arrays[i * stride:(i + 1) * stride], lr=lrs[i], wd=wds[i], **rest) for i in range(n)]
        return [r[0] for r in results] + [s for r in results for s in r[1:]]
    return update


def many_with(rule, stride, count, **names):
    """`names`: of the rule's number, that of the list of them. What is behind the last group of
    arrays goes to every call."""
    def update(*arrays, **kw):
        n = kw[count]
        rest = {k: v for k, v in kw.items() if k != count and k not in names.values()}
        results = [rule(*arrays[i * stride:(i + 1) * stride], *arrays[n * stride:],
                        **{name: kw[several][i] for name, several in names.items()}, **rest) for i in range(n)]
        return [r[0] for r in results] + [s for r in results for s in r[1:]]
    return update


def many_adam(rule, stride):
    return many_with(rule, stride, "num_weights", lr="lrs", wd="wds", eta="etas")


def many_lamb(rule, stride):
    return many_with(rule, stride, "num_tensors", lr="learning_rates", wd="wds", t="step_count")


UPDATES = {
    "_multi_adamw_update": many_adam(adamw, 4), "_multi_mp_adamw_update": many_adam(mp_adamw, 5),
    "_multi_adabelief_update": many_adam(adabelief, 4), "_multi_mp_adabelief_update": many_adam(mp_adabelief, 5),
    "_adabelief_update": adabelief, "_mp_adabelief_update": mp_adabelief,
    "_multi_lamb_update": many_lamb(whole_lamb, 4), "_multi_mp_lamb_update": many_lamb(master(whole_lamb), 5),
    "_multi_lans_update": many_lamb(lans, 4), "_multi_mp_lans_update": many_lamb(master(lans), 5),
    "_contrib_group_adagrad_update": group_adagrad, "_sparse_adagrad_update": adagrad,
    "sgd_update": sgd, "_sparse_sgd_update": sgd, "mp_sgd_update": master(sgd),
    "sgd_mom_update": sgd_mom, "_sparse_sgd_mom_update": sgd_mom,
    "mp_sgd_mom_update": master(sgd_mom), "nag_mom_update": nag, "mp_nag_mom_update": master(nag_in_place),
    "adam_update": adam, "_sparse_adam_update": adam,
    "_adamw_update": adamw, "_mp_adamw_update": mp_adamw, "lamb_update_phase1": lamb1, "mp_lamb_update_phase1": master(lamb1, True),
    "lamb_update_phase2": lamb2, "mp_lamb_update_phase2": master(lamb2), "rmsprop_update": rmsprop,
    "rmspropalex_update": rmspropalex, "ftrl_update": ftrl,
    "_sparse_ftrl_update": ftrl, "ftml_update": ftml, "signsgd_update": signsgd, "signum_update": signum,
    "multi_sgd_update": many(sgd, 2), "multi_sgd_mom_update": many(sgd_mom, 3), "multi_mp_sgd_update": many(master(sgd), 3),
    "multi_mp_sgd_mom_update": many(master(sgd_mom), 4), "preloaded_multi_sgd_update": many(sgd, 2, True),
    "preloaded_multi_sgd_mom_update": many(sgd_mom, 3, True), "preloaded_multi_mp_sgd_update": many(master(sgd), 3, True),
    "preloaded_multi_mp_sgd_mom_update": many(master(sgd_mom), 4, True),
}

W, G, STATE, SQUARE = rand(S, -2, 2), rand(S, -3, 3), rand(S, -0.2, 0.2), rand(S, 0.5, 1.5)
RATES = dict(lr=0.1, wd=0.05, rescale_grad=0.5, clip_gradient=0.7)
SINGLE = lambda *which: {i: "float32" for i in which}   # noqa: E731


def update(names, inputs, attrs, **more):
    names = [names] if isinstance(names, str) else names
    rule = UPDATES[names[0]]
    weights = attrs.get("num_weights", attrs.get("num_tensors", 1))
    ref = lambda *a, **kw: rule(*a, **kw)[:weights]   # noqa: E731
    missing = {k: v for k, v in attrs.items() if k not in ("lr", "lrs", "eta", "t", "learning_rates", "etas", "step_count")}
    bad = [dict(inputs=[(3, 5), (3, 4)] + inputs[2:]), dict(inputs=inputs[:-1] if len(inputs) > 1 else [])]
    if missing != attrs:
        bad.append(dict(attrs=missing))
    return dict(dict(op=names, inputs=inputs, attrs=attrs, ref=ref, dtypes=FLOATS, bad=bad, tol=20), **more)


M = dict(RATES, momentum=0.9)
ONE = [np.array([0.5])]
TUPLES = dict(lrs=(0.1, 0.2), wds=(0.05, 0.01), rescale_grad=0.5, clip_gradient=0.7, num_weights=2)
LOADED = dict(rescale_grad=0.5, clip_gradient=0.7, num_weights=2)
W2, G2, STATE2 = rand((4,), -2, 2), rand((4,), -3, 3), rand((4,), -0.2, 0.2)
PAIR = [np.array([0.1, 0.2]), np.array([0.05, 0.01])]
TWO = dict(empty=False)

CASES = [
    update(["sgd_update", "_sparse_sgd_update"], [W, G], RATES),
    update(["sgd_update"], [W, G], dict(lr=0.1)),
    update("mp_sgd_update", [W, G, W], RATES, tol=MASTER_TOL, input_dtypes=SINGLE(2)),
    update(["sgd_mom_update", "_sparse_sgd_mom_update"], [W, G, STATE], M),
    update("mp_sgd_mom_update", [W, G, STATE, W], M, tol=MASTER_TOL, input_dtypes=SINGLE(2, 3)),
    update("nag_mom_update", [W, G, STATE], M),
    update("mp_nag_mom_update", [W, G, STATE, W], M, tol=MASTER_TOL, input_dtypes=SINGLE(2, 3)),
    update(["adam_update", "_sparse_adam_update"], [W, G, STATE, SQUARE], dict(RATES, beta1=0.8, beta2=0.95, epsilon=1e-3)),
    update("adam_update", [W, G, STATE, SQUARE], dict(lr=0.1)),
    update("_adamw_update", [W, G, STATE, SQUARE, *ONE],
           dict(lr=0.1, wd=0.05, eta=0.6, beta1=0.8, beta2=0.95, epsilon=1e-3, clip_gradient=0.7),
           input_dtypes=SINGLE(4), empty=False),
    update("_mp_adamw_update", [W, G, STATE, SQUARE, W, *ONE], dict(lr=0.1, wd=0.05, eta=0.6, clip_gradient=0.7), tol=MASTER_TOL,
           input_dtypes=SINGLE(2, 3, 4, 5), empty=False),
    update("lamb_update_phase1", [W, G, STATE, SQUARE], dict(t=3, wd=0.05, rescale_grad=0.5, clip_gradient=0.7, epsilon=1e-3)),
    update("lamb_update_phase1", [W, G, STATE, SQUARE], dict(t=3, wd=0.05, bias_correction=False)),
    update("mp_lamb_update_phase1", [W, G, STATE, SQUARE, W], dict(t=3, wd=0.05),
           input_dtypes=SINGLE(2, 3, 4), out_dtype="float32",
           tol=dict.fromkeys(FLOATS, 4e-5)),
    update("lamb_update_phase2", [W, G, np.array([3.0]), np.array([2.0])], dict(lr=0.1, lower_bound=0.5, upper_bound=2.0), empty=False),
    update("lamb_update_phase2", [W, G, np.array([0.0]), np.array([2.0])], dict(lr=0.1), empty=False),
    update("mp_lamb_update_phase2", [W, G, np.array([3.0]), np.array([2.0]), W], dict(lr=0.1),
           tol=MASTER_TOL, input_dtypes=SINGLE(1, 2, 3, 4), empty=False),
    update("rmsprop_update", [W, G, SQUARE], dict(RATES, gamma1=0.9, epsilon=1e-3, clip_weights=1.5)),
    update("rmspropalex_update", [W, G, SQUARE, STATE, STATE], dict(RATES, gamma1=0.9, gamma2=0.8, epsilon=1e-3, clip_weights=1.5)),
    update(["ftrl_update", "_sparse_ftrl_update"], [W, G, STATE, SQUARE], dict(RATES, lamda1=0.3, beta=0.8)),
    update("ftml_update", [W, G, SQUARE, SQUARE, STATE], dict(lr=0.1, wd=0.05, rescale_grad=0.5, clip_grad=0.7, t=3, epsilon=1e-3)),
    update("signsgd_update", [W, G], RATES),
    update("signum_update", [W, G, STATE], dict(M, wd_lh=0.03), tol={"float32": 4e-5, "float64": 2e-11, "float16": 1e-2, "bfloat16": 4e-2}),
    update("multi_sgd_update", [W, G, W2, G2], TUPLES, **TWO),
    update("multi_sgd_mom_update", [W, G, STATE, W2, G2, STATE2], dict(TUPLES, momentum=0.9), **TWO),
    update("multi_mp_sgd_update", [W, G, W, W2, G2, W2], TUPLES, tol=MASTER_TOL, input_dtypes=SINGLE(2, 5), **TWO),
    update("multi_mp_sgd_mom_update", [W, G, STATE, W, W2, G2, STATE2, W2],
           dict(TUPLES, momentum=0.9), tol=MASTER_TOL, input_dtypes=SINGLE(2, 3, 6, 7), **TWO),
    update("preloaded_multi_sgd_update", [W, G, W2, G2, *PAIR], LOADED, input_dtypes=SINGLE(4, 5), **TWO),
    update("preloaded_multi_sgd_mom_update", [W, G, STATE, W2, G2, STATE2, *PAIR],
           dict(LOADED, momentum=0.9), input_dtypes=SINGLE(6, 7), **TWO),
    update("preloaded_multi_mp_sgd_update", [W, G, W, W2, G2, W2, *PAIR], LOADED, tol=MASTER_TOL, input_dtypes=SINGLE(2, 5, 6, 7), **TWO),
    update("preloaded_multi_mp_sgd_mom_update", [W, G, STATE, W, W2, G2, STATE2, W2, *PAIR], dict(LOADED, momentum=0.9), tol=MASTER_TOL,
           input_dtypes=SINGLE(2, 3, 6, 7, 8, 9), **TWO),
]

ADAMS = dict(lrs=(0.1, 0.2), wds=(0.05, 0.01), etas=(0.6, 0.9), clip_gradient=0.7, num_weights=2)
LAMBS = dict(learning_rates=(0.1, 0.2), wds=(0.05, 0.01), step_count=(3, 9), num_tensors=2)
BOUNDED = dict(LAMBS, beta1=0.8, beta2=0.95, epsilon=1e-3, rescale_grad=0.5, clip_gradient=0.2, lower_bound=1.5, upper_bound=4.0)
TWO_MOMENTS = [W, G, STATE, SQUARE, W2, G2, STATE2, rand((4,), 0.5, 1.5)]
MP_MOMENTS = TWO_MOMENTS[:4] + [W] + TWO_MOMENTS[4:] + [W2]
LONG = [rand((9000,), -2, 2), rand((9000,), -3, 3), rand((9000,), -0.2, 0.2), rand((9000,), 0.5, 1.5)]
CASES += [
    update("_adabelief_update", [W, G, STATE, SQUARE, *ONE],
           dict(lr=0.1, wd=0.05, eta=0.6, beta1=0.8, beta2=0.95, epsilon=1e-3, clip_gradient=0.7), input_dtypes=SINGLE(4), empty=False),
    update("_mp_adabelief_update", [W, G, STATE, SQUARE, W, *ONE], dict(lr=0.1, wd=0.05, eta=0.6, clip_gradient=0.7), tol=MASTER_TOL,
           input_dtypes=SINGLE(2, 3, 4, 5), empty=False),
] + [
    update(f"_multi_{name}_update", [*TWO_MOMENTS, *ONE], dict(ADAMS, **more), input_dtypes=SINGLE(8), **TWO)
    for name in ("adamw", "adabelief") for more in ({}, dict(beta1=0.8, beta2=0.95, epsilon=1e-3))
] + [
    update(f"_multi_mp_{name}_update", [*MP_MOMENTS, *ONE], ADAMS, tol=MASTER_TOL, input_dtypes=SINGLE(2, 3, 4, 7, 8, 9, 10), **TWO)
    for name in ("adamw", "adabelief")
] + [
    update(f"_multi_{name}_update", TWO_MOMENTS, attrs, **TWO) for name in ("lamb", "lans") for attrs in (LAMBS, BOUNDED)
] + [
    update(f"_multi_{name}_update", LONG,
           dict(learning_rates=(0.1,), wds=(0.05,), step_count=(1,), num_tensors=1), **TWO) for name in ("lamb", "lans")
] + [
    update(f"_multi_mp_{name}_update", MP_MOMENTS, LAMBS, tol=MASTER_TOL, input_dtypes=SINGLE(2, 3, 4, 7, 8, 9), **TWO)
    for name in ("lamb", "lans")
] + [
    update("_multi_lamb_update", TWO_MOMENTS, dict(LAMBS, bias_correction=False), **TWO),
    update("_contrib_group_adagrad_update", [W, G, rand((3, 1), 0, 1)], dict(lr=0.1), empty=False),
    update("_contrib_group_adagrad_update", [rand((3, 4, 5)), rand((3, 4, 5)), rand((3,), 0, 1)],
           dict(lr=0.1, rescale_grad=0.5, clip_gradient=0.4, epsilon=1e-2), empty=False),
    update("_sparse_adagrad_update", [W, G, SQUARE], dict(lr=0.1)),
    update("_sparse_adagrad_update", [W, G, SQUARE],
           dict(lr=0.1, wd=0.05, rescale_grad=0.5, clip_gradient=0.4, epsilon=1e-2)),
]


def corrected(rule):
    """A reference for test_optimizer.py of AdamW and AdaBelief, which correct the bias through the
    learning rate."""
    def run(w, options):
        numbers = {"wd": 0, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6, **options}
        lr, rescale, correct = numbers.pop("learning_rate"), numbers.pop("rescale_grad", 1), numbers.pop("correct_bias", True)
        m, v, t = np.zeros_like(w), np.zeros_like(w), 0
        while True:
            g, t = (yield), t + 1
            unbias = np.sqrt(1 - numbers["beta2"] ** t) / (1 - numbers["beta1"] ** t) if correct else 1
            w[...], m, v = rule(w, g, m, v, rescale, lr=1, eta=lr * unbias, **numbers)
    return run


def counted(rule):
    def run(w, options):
        numbers = {"wd": 0, **options}
        numbers["lr"] = numbers.pop("learning_rate")
        m, v, t = np.zeros_like(w), np.zeros_like(w), 0
        while True:
            g, t = (yield), t + 1
            w[...], m, v = rule(w, g, m, v, t=t, **numbers)
    return run


def finite(*arrays, **_):
    return np.array([float(all(np.isfinite(a).all() for a in arrays))])


def lars(lr, w, g, wd, eta, eps, rescale_grad=1):
    w, g = np.sqrt(w), np.sqrt(g) * f32(rescale_grad)
    return lr * np.where((w > 0) & (g > 0), f32(eta) * w / (g + wd * w + f32(eps)), 1)


LAYERS = [np.array([0.1, 0.2, 0.3, 0.4]), np.array([4.0, 0, 9, 1]), np.array([16.0, 9, 0, 1]), np.array([0.01, 0.02, 0.03, 0.04])]
CASES += [
    dict(op="all_finite", inputs=[x], ref=finite, dtypes=FLOATS, out_dtype="float32")
    for x in (W, np.array([1.0, np.inf]), np.array([np.nan, 1.0]), np.array([-np.inf]))
] + [
    dict(op="multi_all_finite", inputs=[W, x], attrs=dict(num_arrays=2), ref=finite, dtypes=FLOATS,
         out_dtype="float32", empty=[(0, 5), (0,)],
         bad=[dict(attrs=dict(num_arrays=3)), dict(attrs=dict(num_arrays=0))])
    for x in (W2, np.array([np.nan]))
] + [
    dict(op="multi_sum_sq", inputs=[W, W2], attrs=dict(num_arrays=2), ref=lambda *a,
         **_: np.array([np.sum(x * x) for x in a]), dtypes=FLOATS,
         out_dtype="float32", tol={d: 1e-6 for d in FLOATS}, empty=[(0, 5), (0,)], bad=[dict(attrs={}), dict(attrs=dict(num_arrays=3))]),
    dict(op="multi_lars", inputs=LAYERS, attrs=dict(eta=0.1, eps=1e-2, rescale_grad=0.5), ref=lars, dtypes=FLOATS, tol=20,
         bad=[dict(attrs=dict(eta=1)), dict(inputs=[(2,), (3,), (2,), (2,)])]),
]
OPTIMIZERS = [
    ("sgd", steps(sgd, 0), {}), ("sgd", steps(sgd_mom, 1), {"momentum": 0.9}), ("ccsgd", steps(sgd_mom, 1), {"momentum": 0.5}),
    ("nag", steps(sgd, 0), {}), ("nag", steps(nag_in_place, 1), {"momentum": 0.9}),
    ("rmsprop", steps(rmsprop, 1, gamma1=0.9), {}), ("rmsprop", steps(rmsprop, 1, gamma1=0.9), {"clip_weights": 0.5}),
    ("rmsprop", steps(rmspropalex, 3, gamma1=0.9), {"centered": True}),
    ("ftrl", steps(ftrl, 2), {}), ("ftrl", steps(ftrl, 2), {"lamda1": 0.3, "beta": 2}),
    ("signum", steps(signum, 1, momentum=0.9), {}), ("signum", steps(signsgd, 0), {"momentum": 0}),
    ("signum", steps(signum, 1, momentum=0.9), {"wd_lh": 0.01}),
    ("adamw", corrected(adamw), {}), ("adamw", corrected(adamw), {"correct_bias": False, "beta1": 0.8, "epsilon": 1e-3}),
    ("adabelief", corrected(adabelief), {}), ("adabelief", corrected(adabelief), {"correct_bias": False, "epsilon": 1e-3}),
    ("lans", counted(lans), {}), ("lans", counted(lans), {"lower_bound": 4.0, "beta2": 0.9}), ("lans", counted(lans), {"upper_bound": 0.5}),
]
COVERED_ELSEWHERE = {"reset_arrays": "test_update_operators.py"}
