"""MXFusion: a model's most probable values, Gaussian processes of three kinds, a Bayesian mean."""
import tempfile
import warnings

import mxnet as mx
import numpy as np
from filled import show
from mxfusion import Model, Variable
from mxfusion.common import config
from mxfusion.components.distributions import Normal
from mxfusion.components.distributions.gp.kernels import RBF, Bias, Linear, Matern52
from mxfusion.components.variables import PositiveTransformation
from mxfusion.inference import MAP, GradBasedInference, ModulePredictionAlgorithm, TransferInference
from mxfusion.modules.gp_modules import GPRegression, SparseGPRegression, SVGPRegression

warnings.filterwarnings("ignore")
config.DEFAULT_DTYPE = "float64"
draws = np.random.RandomState(0)
inputs = draws.uniform(-3, 3, (30, 1))
outputs = np.sin(inputs) + draws.normal(0, 0.05, inputs.shape)


def array(values):
    return mx.nd.array(values, dtype="float64")


def most_probable():
    model = Model()
    model.mu = Variable()
    model.s = Variable(transformation=PositiveTransformation())
    model.Y = Normal.define_variable(mean=model.mu, variance=model.s, shape=(100,))
    inference = GradBasedInference(inference_algorithm=MAP(model=model, observed=[model.Y]))
    data = array(draws.normal(3, 2, 100))
    inference.initialize(Y=data)
    inference.params[model.mu] = array([0.5])
    inference.params[model.s] = array([1.5])
    inference.run(Y=data, learning_rate=0.1, max_iter=100)
    print("most probable", f"{inference.params[model.mu].asscalar():.5g} {inference.params[model.s].asscalar():.5g}")


def process(module, kernel, **kwargs):
    model = Model()
    model.N = Variable()
    model.X = Variable(shape=(model.N, 1))
    model.noise = Variable(shape=(1,), transformation=PositiveTransformation(), initial_value=0.01)
    model.kernel = kernel
    model.Y = module.define_variable(X=model.X, kernel=model.kernel, noise_var=model.noise, shape=(model.N, 1), dtype="float64", **kwargs)
    inference = GradBasedInference(inference_algorithm=MAP(model=model, observed=[model.X, model.Y]))
    inference.initialize(X=inputs.shape, Y=outputs.shape)
    if kwargs:
        inference.params[model.Y.factor.inducing_inputs] = array(np.linspace(-3, 3, 8)[:, None])
    if module is SVGPRegression:
        posterior = model.Y.factor._extra_graphs[0]
        inference.params[posterior.qU_mean] = array(np.zeros((8, 1)))
        inference.params[posterior.qU_cov_W] = array(np.eye(8) * 0.3)
        inference.params[posterior.qU_cov_diag] = array(np.full(8, 0.5))
    inference.run(max_iter=40, learning_rate=0.05, X=array(inputs), Y=array(outputs))
    name = f"{module.__name__} {type(kernel).__name__}"
    print(name, sorted(kernel.parameter_names), [f"{inference.params[p].asnumpy().ravel()[0]:.5g}" for p in (model.noise,)])
    predict = TransferInference(ModulePredictionAlgorithm(model, observed=[model.X], target_variables=[model.Y]),
                                infr_params=inference.params)
    for part in predict.run(X=array(np.linspace(-4, 4, 7)[:, None]))[0]:
        show(name, part)
    with tempfile.NamedTemporaryFile(suffix=".zip") as file:
        inference.save(file.name)


most_probable()
process(GPRegression, RBF(input_dim=1, variance=1, lengthscale=1))
process(GPRegression, Matern52(input_dim=1, variance=1, lengthscale=1))
process(GPRegression, RBF(1) + Linear(1))
process(GPRegression, RBF(1) * Bias(1))
process(SparseGPRegression, RBF(input_dim=1, variance=1, lengthscale=1), num_inducing=8)
process(SVGPRegression, RBF(input_dim=1, variance=1, lengthscale=1), num_inducing=8)
