"""TensorLy with its MXNet backend: tensor algebra, decompositions, regression."""
import mxnet as mx
import numpy as np
import tensorly as tl
from filled import show
from tensorly import tenalg
from tensorly.decomposition import (non_negative_parafac, non_negative_tucker, parafac, partial_tucker, robust_pca,
                                    tensor_train, tucker)
from tensorly.regression import CPRegressor, TuckerRegressor

tl.set_backend("mxnet")
draws = np.random.RandomState(0)
x = tl.tensor(draws.uniform(size=(4, 5, 6)))
print(x.dtype, tl.context(x), tl.is_tensor(x), tl.max(x) > 0.9, tl.argmax(x, axis=1).shape)
matrix = tl.tensor(draws.normal(size=(6, 4)))
show("qr", *[tl.abs(part) for part in tl.qr(matrix)])
show("solve", tl.solve(tl.dot(matrix.T, matrix), matrix.T))
show("clip", tl.clip(x, 0.2, 0.7))
show("unfold", *[tl.unfold(x, axis) for axis in range(3)])
show("fold", tl.fold(tl.unfold(x, 1), 1, x.shape))
show("svd", *[tl.abs(part) for part in tl.partial_svd(matrix, 2)])
show("mode_dot", tenalg.mode_dot(x, tl.tensor(draws.normal(size=(3, 5))), 1))
show("khatri_rao", tenalg.khatri_rao([matrix, matrix]))
show("parafac", tl.cp_to_tensor(parafac(x, rank=3, init="svd", n_iter_max=30)))
show("non-negative parafac", tl.cp_to_tensor(non_negative_parafac(x, rank=3, init="svd", n_iter_max=30)))
show("tucker", tl.tucker_to_tensor(tucker(x, rank=[2, 3, 3])))
show("non-negative tucker", tl.tucker_to_tensor(non_negative_tucker(x, rank=[2, 3, 3], init="svd", n_iter_max=20)))
print("partial tucker", partial_tucker(x, modes=[1, 2], rank=[2, 3])[0].shape)
show("tensor train", tl.tt_to_tensor(tensor_train(x, rank=[1, 2, 3, 1])))
show("robust_pca", *robust_pca(x, n_iter_max=20))
data = tl.tensor(draws.normal(size=(60, 5, 6)))
target = mx.nd.array((data.asnumpy() * draws.normal(size=(5, 6))).sum((1, 2)))
for model in (CPRegressor(weight_rank=2, n_iter_max=20, verbose=0, random_state=1),
              TuckerRegressor(weight_ranks=[2, 2], n_iter_max=20, verbose=0, random_state=1)):
    model.fit(data, target)
    show(type(model).__name__, model.predict(data))
