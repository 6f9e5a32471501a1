"""Tables and texts in the corpus: pipelines of scikit-learn whose columns are numbers and words,
what vectorizers make of texts, and learners whose operators few files have."""
import os

import numpy as np

import onnx_models
from onnx_models import Made, draw

PLACES = np.array(["north", "south", "east", "West", "ein Ort", "Ünder"])
TEXTS = np.array([
    "The quick brown fox, and 2 lazy dogs.", "a fox's tail is not a dog's", "Brown! brown? BROWN;",
    "", "dogs and dogs and dogs", "naïve café über Straße", "numbers 12 345 6", "one-word",
    "Some words are here, some words are there", "x y z xx yy zz"
])


def rows(count, seed="rows"):
    rng = draw(seed, count)
    return {
        "age": rng.normal(40, 12, (count, 1)).astype("float32"), "pay":
        rng.lognormal(8, 1, (count, 1)).astype("float32"), "place": rng.choice(PLACES, (count, 1)),
        "kind": rng.choice(np.array(["a", "b", "c"]),
                           (count, 1)), "number": rng.integers(0, 5, (count, 1))
    }


def frame(count):
    import pandas
    table = pandas.DataFrame({k: v[:, 0] for k, v in rows(count).items()})
    table.loc[::7, "age"] = np.nan
    target = (np.nan_to_num(table["age"]) + 5 * table["number"] + 8 * (table["place"] == "east") +
              draw("t").normal(size=count) > 45)
    return table, target.astype(int)


def mixed(batch):
    given = rows(batch or 7, "asked")
    given["age"][::3] = np.nan
    if not batch:
        given["place"][0] = "nowhere"
    return given


def pipeline(last):
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, RobustScaler, StandardScaler
    columns = ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(strategy="median"),
                                  StandardScaler()), ["age", "pay"]),
        ("words", OneHotEncoder(handle_unknown="ignore"), ["place", "kind"]),
        ("order", OrdinalEncoder(), ["kind"]), ("count", RobustScaler(), ["number"])
    ])
    return make_pipeline(columns, last)


def learned(kind):
    from sklearn import ensemble, linear_model, neighbors, neural_network, svm
    if kind == "xgb":
        import xgboost
        from onnxmltools.convert.xgboost.operator_converters.XGBoost import convert_xgboost
        from skl2onnx import update_registered_converter
        from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
        update_registered_converter(
            xgboost.XGBClassifier,
            "XGB",
            calculate_linear_classifier_output_shapes,
            convert_xgboost,
            options={"nocl": [True, False], "zipmap": [True, False, "columns"]})
        return xgboost.XGBClassifier(n_estimators=30, max_depth=4)
    if kind == "lgbm":
        import lightgbm
        from onnxmltools.convert.lightgbm.operator_converters.LightGbm import convert_lightgbm
        from skl2onnx import update_registered_converter
        from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
        update_registered_converter(
            lightgbm.LGBMClassifier,
            "LGBM",
            calculate_linear_classifier_output_shapes,
            convert_lightgbm,
            options={"nocl": [True, False], "zipmap": [True, False, "columns"]})
        return lightgbm.LGBMClassifier(n_estimators=30, verbose=-1)
    return {
        "logistic":
        lambda: linear_model.LogisticRegression(max_iter=500), "forest":
        lambda: ensemble.RandomForestClassifier(20, random_state=0), "boosted":
        lambda: ensemble.AdaBoostClassifier(n_estimators=20, random_state=0), "neighbours":
        lambda: neighbors.KNeighborsClassifier(4), "net":
        lambda: neural_network.MLPClassifier((16, ), max_iter=200, random_state=0), "svc":
        lambda: svm.SVC(probability=True, random_state=0), "voting":
        lambda: ensemble.VotingClassifier(
            flatten_transform=False,
            estimators=[("a", linear_model.LogisticRegression(max_iter=500)),
                        ("b", ensemble.ExtraTreesClassifier(9, random_state=0))],
            voting="soft"), "stacking":
        lambda: ensemble.StackingClassifier([("a", linear_model.LogisticRegression(
            max_iter=500)), ("b", ensemble.GradientBoostingClassifier(n_estimators=9))])
    }[kind]()


def saved(model, types, path, **options):
    import onnx
    from skl2onnx import to_onnx
    made = to_onnx(model,
                   initial_types=types,
                   options=options or None,
                   target_opset={"": 18, "ai.onnx.ml": 3})
    for node in made.graph.node:
        if node.op_type == "StringNormalizer":  # the default is one that small machines lack
            node.attribute.append(onnx.helper.make_attribute("locale", "C.UTF-8"))
    with open(path, "wb") as f:
        f.write(made.SerializeToString())


def columns_of(kind):

    def make(folder, name):
        from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
        table, target = frame(300)
        model = pipeline(learned(kind)).fit(table, target)
        typed = {"f": FloatTensorType, "i": Int64TensorType, "U": StringTensorType}
        types = [(k, typed[v.dtype.kind]([None, 1])) for k, v in rows(1).items()]
        saved(model, types, os.path.join(folder, name + ".onnx"), **{"zipmap": False})
        return onnx_models.reference_of(folder, name)

    return make


# name -> options of a vectorizer
VECTORIZERS = {
    "words": ("CountVectorizer", {}),
    "pairs": ("CountVectorizer", {"ngram_range": (1, 2)}),
    "pairs_only": ("CountVectorizer", {"ngram_range": (2, 3)}),
    "binary": ("CountVectorizer", {"binary": True}),
    "cased": ("CountVectorizer", {"lowercase": False}),
    "stop": ("CountVectorizer", {"stop_words": ["the", "and", "a"]}),
    "letters": ("CountVectorizer", {"analyzer": "char", "ngram_range": (1, 2)}),
    "pattern": ("CountVectorizer", {"token_pattern": "[a-zA-Z]+"}),
    "any_word": ("CountVectorizer", {"token_pattern": r"\b[a-z ]+\b"}),
    "weights": ("TfidfVectorizer", {}),
    "weights_log": ("TfidfVectorizer", {"sublinear_tf": True, "ngram_range": (1, 2)}),
    "weights_l1": ("TfidfVectorizer", {"norm": "l1", "smooth_idf": False}),
    "weights_plain": ("TfidfVectorizer", {"norm": None, "use_idf": False}),
    "few": ("TfidfVectorizer", {"max_features": 8, "min_df": 1}),
}


def texts(batch):
    return {
        "X":
        TEXTS[2:2 + batch][:, None] if batch else np.concatenate(
            [TEXTS, np.array(["an unknown fox", "  spaces  here "])])[:, None]
    }


def vectorized(kind, last):

    def make(folder, name):
        import sklearn.feature_extraction.text
        from skl2onnx.common.data_types import StringTensorType
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import MultinomialNB
        from sklearn.pipeline import make_pipeline
        cls, options = VECTORIZERS[kind]
        parts = [getattr(sklearn.feature_extraction.text, cls)(**options)]
        parts += {"": [], "logistic": [LogisticRegression()], "bayes": [MultinomialNB()]}[last]
        model = make_pipeline(*parts).fit(TEXTS, np.arange(len(TEXTS)) % 3)
        saved(model, [("X", StringTensorType([None, 1]))], os.path.join(folder, name + ".onnx"),
              **({"zipmap": False} if last else {}))
        return onnx_models.reference_of(folder, name)

    return make


def rare():
    """Learners by forms that few files have."""
    from sklearn import (calibration, ensemble, gaussian_process, linear_model, mixture,
                         multiclass, neighbors, preprocessing, svm, tree)
    from sklearn.gaussian_process import kernels
    return {
        "process_rational": (gaussian_process.GaussianProcessRegressor(
            kernels.RationalQuadratic() + kernels.DotProduct(), alpha=1.0), {}),
        "process_matern_std":
        (gaussian_process.GaussianProcessRegressor(kernels.Matern(nu=1.5),
                                                   alpha=0.5), {"return_std": True}),
        "neighbours_cdist": (neighbors.KNeighborsRegressor(3), {"optim": "cdist"}),
        "neighbours_manhattan": (neighbors.KNeighborsRegressor(3,
                                                               metric="manhattan",
                                                               weights="distance"), {}),
        "neighbours_cosine": (neighbors.KNeighborsClassifier(3, metric="cosine"), {}),
        "neighbours_transform": (neighbors.KNeighborsTransformer(n_neighbors=3), {}),
        "forest_alone": (ensemble.IsolationForest(n_estimators=30,
                                                  random_state=0), {"score_samples": True}),
        "outliers": (neighbors.LocalOutlierFactor(n_neighbors=5,
                                                  novelty=True), {"score_samples": True}),
        "one_class": (svm.OneClassSVM(nu=0.2), {}),
        "rest_trees":
        (multiclass.OneVsRestClassifier(tree.DecisionTreeClassifier(max_depth=3, random_state=0)),
         {"zipmap": False}),
        "pairs_svc": (multiclass.OneVsOneClassifier(svm.SVC()), {"zipmap": False}),
        "calibrated": (calibration.CalibratedClassifierCV(svm.LinearSVC(dual=False),
                                                          method="isotonic",
                                                          cv=3), {"zipmap": False}),
        "svc_poly": (svm.SVC(kernel="poly", degree=3, coef0=1.0, probability=True,
                             random_state=0), {"zipmap": False}),
        "svc_sigmoid": (svm.SVC(kernel="sigmoid", decision_function_shape="ovo"),
                        {"zipmap": False, "raw_scores": True}),
        "nusvr": (svm.NuSVR(kernel="rbf", C=10), {}),
        "trees_leaf": (ensemble.RandomForestClassifier(5, max_depth=3, random_state=0),
                       {"decision_leaf": True, "zipmap": False}),
        "trees_path": (tree.DecisionTreeRegressor(max_depth=4,
                                                  random_state=0), {"decision_path": True}),
        "bagging": (ensemble.BaggingRegressor(svm.SVR(),
                                              n_estimators=4,
                                              max_features=0.5,
                                              random_state=0), {}),
        "ada": (ensemble.AdaBoostClassifier(n_estimators=10, random_state=0), {"zipmap": False}),
        "mixture": (mixture.BayesianGaussianMixture(n_components=3,
                                                    covariance_type="tied",
                                                    random_state=0), {"score_samples": True}),
        "power": (preprocessing.PowerTransformer(method="box-cox"), {}),
        "bins": (preprocessing.KBinsDiscretizer(4,
                                                encode="onehot-dense",
                                                quantile_method="averaged_inverted_cdf"), {}),
        "sgd": (linear_model.SGDClassifier(loss="modified_huber",
                                           random_state=0), {"zipmap": False}),
        "zipped": (linear_model.LogisticRegression(max_iter=500), {}),
        "zipped_columns": (linear_model.LogisticRegression(max_iter=500), {"zipmap": "columns"}),
    }


# The converter mixes floats of these, or onnxruntime has no doubles for them.
FLOAT_ALONE = """neighbours_cosine forest_alone one_class rest_trees nusvr trees_path bagging ada
mixture power bins zipped""".split()


def iris(batch):
    import sklearn.datasets
    x = sklearn.datasets.load_iris().data.astype("float32")
    return {"X": x[::50][:batch] if batch else x[::11]}


def of_rare(kind, double):

    def make(folder, name):
        import sklearn.datasets
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
        x, y = sklearn.datasets.load_iris(return_X_y=True)
        model, options = rare()[kind]
        model.fit(x, y)
        saved(model, [("X", (DoubleTensorType if double else FloatTensorType)([None, 4]))],
              os.path.join(folder, name + ".onnx"), **options)
        return onnx_models.reference_of(folder, name)

    return make


def doubled(inputs):
    return lambda batch: {k: v.astype("float64") for k, v in inputs(batch).items()}


def files(corpus):
    for kind in ("logistic", "forest", "boosted", "neighbours", "net", "svc", "voting", "stacking",
                 "xgb", "lgbm"):
        corpus["tables.columns_" + kind] = "columns of words", Made("", columns_of(kind), mixed,
                                                                    (1, ))
    for kind in VECTORIZERS:
        for last in ("", "logistic", "bayes") if kind in ("words", "weights") else ("", ):
            corpus["tables.text_" + "_".join(filter(None, (kind, last)))] = "texts", Made(
                "", vectorized(kind, last), texts, (3, ))
    for kind in rare():
        corpus["tables." + kind] = "rare learners", Made("", of_rare(kind, False), iris, (3, ))
        if kind not in FLOAT_ALONE:
            corpus["tables." + kind + "_double"] = "rare learners", Made(
                "", of_rare(kind, True), doubled(iris), (3, ))
