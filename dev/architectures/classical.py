"""Trees, linear models, support vector machines and other models of scikit-learn, against their own answers."""
import os

import numpy as np

from catalog import direct
from routes import TOLERANCE, NotExported, difference, witness

ROWS, COLUMNS = 60, 5


def table(classes):
    """Rows in float32, and a number or a class for each."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    score = rows[:, 0] * 2 - rows[:, 1] * rows[:, 2] + random.normal(size=ROWS) * 0.1
    return rows, score if not classes else np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))



def core_ml(name, make, classes, convert):
    @direct(f"{name}_core_ml", "classical")
    def _():
        import kelvin
        rows, targets = table(classes)
        model = make().fit(rows, targets)
        path = os.path.join(os.environ["KELVIN_SCRATCH"], f"{os.getpid()}.mlmodel")
        try:
            convert(model, [f"c{index}" for index in range(COLUMNS)]).save(path)
        except Exception as error:
            raise NotExported(f"coremltools: {type(error).__name__}: {error}") from error
        loaded = kelvin.Model(path, units="cpu", no_cache=True)
        output = next(iter(loaded.outputs))
        single = len(loaded.inputs) == 1
        given = [
            {next(iter(loaded.inputs)): row} if single else {f"c{index}": float(value) for index, value in enumerate(row)}
            for row in rows]
        found = [item[output] for item in loaded.predict(given)]
        expected = model.predict(rows)
        return [np.ravel(np.array(found)).astype(float)], [np.ravel(expected).astype(float)]


def onnx(name, make, classes, convert):
    @direct(f"{name}_onnx", "classical")
    def _():
        from kelvin.onnx import InferenceSession
        rows, targets = table(classes)
        model = make().fit(rows, targets)
        try:
            bytes_of = convert(model).SerializeToString()
        except Exception as error:
            raise NotExported(f"{type(error).__name__}: {error}") from error
        session = InferenceSession(bytes_of, providers=["CPUExecutionProvider"])
        found = session.run(None, {"rows": rows})
        expected = [model.predict(rows) if hasattr(model, "predict") else model.transform(rows)]
        if classes and hasattr(model, "predict_proba"):
            expected.append(model.predict_proba(rows))
        elif not hasattr(model, "predict"):
            found = found[:1]
        found = [
            np.array([[row[key] for key in sorted(row)] for row in item]) if isinstance(item, list) and isinstance(item[0], dict)
            else np.asarray(item) for item in found][:len(expected)]
        found = [item.reshape(np.shape(right)).astype(float) for item, right in zip(found, expected)]
        expected = [np.asarray(item).astype(float) for item in expected]
        if difference(found, expected) > TOLERANCE["classical"]:
            witness(bytes_of, {"rows": rows}, expected)
        return found, expected


def by_sklearn(model, columns):
    from coremltools.converters import sklearn
    return sklearn.convert(model, columns, "target")


def by_xgboost(model, columns):
    from coremltools.converters import xgboost
    return xgboost.convert(model, columns, "target", mode="classifier" if hasattr(model, "predict_proba") else "regressor",
                           n_classes=len(getattr(model, "classes_", ())) or None)


def by_skl2onnx(model):
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType
    return to_onnx(model, initial_types=[("rows", FloatTensorType([None, COLUMNS]))], options=(
        {id(model): {"zipmap": False}} if hasattr(model, "predict_proba") and hasattr(model, "classes_") else None))


def by_onnxmltools(kind):
    def convert(model):
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType
        return getattr(onnxmltools, f"convert_{kind}")(
            model, initial_types=[("rows", FloatTensorType([None, COLUMNS]))], target_opset=15)
    return convert


def of(module, kind, **options):
    def make():
        import importlib
        return getattr(importlib.import_module(module), kind)(**options)
    return make


SKLEARN = {
    "linear_regression": (of("sklearn.linear_model", "LinearRegression"), 0),
    "logistic_regression": (of("sklearn.linear_model", "LogisticRegression"), 3),
    "linear_svc": (of("sklearn.svm", "LinearSVC"), 2),
    "linear_svr": (of("sklearn.svm", "LinearSVR"), 0),
    "svc": (of("sklearn.svm", "SVC", kernel="rbf", probability=True, random_state=0), 3),
    "nu_svc": (of("sklearn.svm", "NuSVC", kernel="poly", nu=0.3), 2),
    "svr": (of("sklearn.svm", "SVR", kernel="rbf"), 0),
    "nu_svr": (of("sklearn.svm", "NuSVR", kernel="sigmoid"), 0),
    "decision_tree_classifier": (of("sklearn.tree", "DecisionTreeClassifier", random_state=0), 3),
    "decision_tree_regressor": (of("sklearn.tree", "DecisionTreeRegressor", random_state=0), 0),
    "random_forest_classifier": (of("sklearn.ensemble", "RandomForestClassifier", n_estimators=12, random_state=0), 3),
    "random_forest_regressor": (of("sklearn.ensemble", "RandomForestRegressor", n_estimators=12, random_state=0), 0),
    "gradient_boosting_classifier": (of("sklearn.ensemble", "GradientBoostingClassifier", n_estimators=8, random_state=0), 2),
    "gradient_boosting_regressor": (of("sklearn.ensemble", "GradientBoostingRegressor", n_estimators=8, random_state=0), 0),
    "nearest_neighbors": (of("sklearn.neighbors", "KNeighborsClassifier", n_neighbors=3), 3),
}
ONNX_ALONE = {
    "ridge": (of("sklearn.linear_model", "Ridge"), 0),
    "sgd_classifier": (of("sklearn.linear_model", "SGDClassifier", loss="log_loss", random_state=0), 3),
    "mlp_classifier": (of("sklearn.neural_network", "MLPClassifier", hidden_layer_sizes=(8,), max_iter=50, random_state=0), 3),
    "mlp_regressor": (of("sklearn.neural_network", "MLPRegressor", hidden_layer_sizes=(8,), max_iter=50, random_state=0), 0),
    "gaussian_bayes": (of("sklearn.naive_bayes", "GaussianNB"), 3),
    "k_means": (of("sklearn.cluster", "KMeans", n_clusters=3, random_state=0, n_init=2), 0),
    "gaussian_mixture": (of("sklearn.mixture", "GaussianMixture", n_components=2, random_state=0), 0),
    "ada_boost": (of("sklearn.ensemble", "AdaBoostClassifier", n_estimators=5, algorithm="SAMME", random_state=0), 3),
    "extra_trees": (of("sklearn.ensemble", "ExtraTreesClassifier", n_estimators=8, random_state=0), 3),
    "bagging": (of("sklearn.ensemble", "BaggingClassifier", n_estimators=4, random_state=0), 3),
    "histogram_boosting_classifier": (of("sklearn.ensemble", "HistGradientBoostingClassifier", max_iter=8, random_state=0), 3),
    "histogram_boosting_regressor": (of("sklearn.ensemble", "HistGradientBoostingRegressor", max_iter=8, random_state=0), 0),
    "gaussian_process": (of("sklearn.gaussian_process", "GaussianProcessRegressor", alpha=0.1), 0),
    "isolation_forest": (of("sklearn.ensemble", "IsolationForest", n_estimators=8, random_state=0), 0),
    "k_neighbors_regressor": (of("sklearn.neighbors", "KNeighborsRegressor", n_neighbors=3), 0),
    "linear_discriminant": (of("sklearn.discriminant_analysis", "LinearDiscriminantAnalysis"), 3),
    "quadratic_discriminant": (of("sklearn.discriminant_analysis", "QuadraticDiscriminantAnalysis"), 3),
    "pca": (of("sklearn.decomposition", "PCA", n_components=3), 0),
    "polynomial_features": (of("sklearn.preprocessing", "PolynomialFeatures", degree=2), 0),
    "power_transformer": (of("sklearn.preprocessing", "PowerTransformer"), 0),
    "bins": (of("sklearn.preprocessing", "KBinsDiscretizer", n_bins=4, encode="onehot-dense"), 0),
    "robust_scaler": (of("sklearn.preprocessing", "RobustScaler"), 0),
    "normalizer": (of("sklearn.preprocessing", "Normalizer"), 0),
}
for name, (made, count) in SKLEARN.items():
    core_ml(name, made, count, by_sklearn)
    onnx(name, made, count, by_skl2onnx)
for name, (made, count) in ONNX_ALONE.items():
    onnx(name, made, count, by_skl2onnx)

BOOSTED = dict(n_estimators=8, max_depth=3, random_state=0)
for name, made, count, kind in (
        ("xgboost_regressor", of("xgboost", "XGBRegressor", **BOOSTED, base_score=0.5), 0, "xgboost"),
        ("xgboost_classifier", of("xgboost", "XGBClassifier", **BOOSTED), 2, "xgboost"),
        ("xgboost_classifier_of_three", of("xgboost", "XGBClassifier", **BOOSTED), 3, "xgboost"),
        ("lightgbm_regressor", of("lightgbm", "LGBMRegressor", **BOOSTED, min_child_samples=3, verbose=-1), 0, "lightgbm"),
        ("lightgbm_classifier", of("lightgbm", "LGBMClassifier", **BOOSTED, min_child_samples=3, verbose=-1), 2, "lightgbm"),
        ("lightgbm_classifier_of_three", of("lightgbm", "LGBMClassifier", **BOOSTED, min_child_samples=3, verbose=-1), 3,
         "lightgbm")):
    if kind == "xgboost":
        core_ml(name, made, count, by_xgboost)
    onnx(name, made, count, by_onnxmltools(kind))
