"""Examples of the methods that arrays of mx.nd and symbols have alike, and of the functions of
mx.np and mx.npx that stand for them."""

__all__ = ["ROWS"]

# Method | array | another array | call | whether numbers are rounded | what is printed
ROWS = """
abs | [-1, 2] | - | abs() | - | [1., 2.]
arccos | [-1, 1] | - | arccos() | round | [3.142, 0.   ]
arccosh | [1, 2] | - | arccosh() | round | [0.   , 1.317]
arcsin | [-1, 1] | - | arcsin() | round | [-1.571,  1.571]
arcsinh | [0, 1] | - | arcsinh() | round | [0.   , 0.881]
arctan | [0, 1] | - | arctan() | round | [0.   , 0.785]
arctanh | [0, 0.5] | - | arctanh() | round | [0.   , 0.549]
argmax | [[1, 5, 2]] | - | argmax(axis=1) | - | [1.]
argmax_channel | [[1, 5, 2]] | - | argmax_channel() | - | [1.]
argmin | [[3, 1, 2]] | - | argmin(axis=1) | - | [1.]
argsort | [3, 1, 2] | - | argsort() | - | [1., 2., 0.]
batch_take | [[1, 2], [3, 4]] | [0, 1], dtype='int32' | batch_take({other}) | - | [1., 4.]
broadcast_axes | [[1, 2]] | - | broadcast_axes(axis=0, size=2).shape | - | (2, 2)
broadcast_axis | [[1, 2]] | - | broadcast_axis(axis=0, size=2).shape | - | (2, 2)
broadcast_like | [[1, 2]] | [[0, 0], [0, 0]] | broadcast_like({other}).shape | - | (2, 2)
broadcast_to | [[1, 2]] | - | broadcast_to((3, 2)).shape | - | (3, 2)
cbrt | [8, 27] | - | cbrt() | - | [2., 3.]
ceil | [-1.5, 1.5] | - | ceil() | - | [-1.,  2.]
clip | [-1, 3, 9] | - | clip(0, 6) | - | [0., 3., 6.]
cos | [0, 1] | - | cos() | round | [1.  , 0.54]
cosh | [0, 1] | - | cosh() | round | [1.   , 1.543]
degrees | [0, 1] | - | degrees() | round | [ 0.   , 57.296]
depth_to_space | [[[[1]], [[2]], [[3]], [[4]]]] | - | depth_to_space(2).shape | - | (1, 1, 2, 2)
diag | [[1, 2], [3, 4]] | - | diag() | - | [1., 4.]
exp | [0, 1] | - | exp() | round | [1.   , 2.718]
expand_dims | [1, 2] | - | expand_dims(0) | - | [[1., 2.]]
expm1 | [0, 1] | - | expm1() | round | [0.   , 1.718]
fix | [-1.5, 1.5] | - | fix() | - | [-1.,  1.]
flatten | [[[1, 2], [3, 4]]] | - | flatten() | - | [[1., 2., 3., 4.]]
flip | [1, 2, 3] | - | flip(axis=0) | - | [3., 2., 1.]
floor | [-1.5, 1.5] | - | floor() | - | [-2.,  1.]
gamma | [1, 5] | - | gamma() | - | [ 1., 24.]
gammaln | [1, 5] | - | gammaln() | round | [0.   , 3.178]
log | [1, 10] | - | log() | round | [0.   , 2.303]
log10 | [1, 100] | - | log10() | - | [0., 2.]
log1p | [0, 1] | - | log1p() | round | [0.   , 0.693]
log2 | [1, 8] | - | log2() | - | [0., 3.]
log_softmax | [0, 1] | - | log_softmax() | round | [-1.313, -0.313]
max | [[1, 5], [7, 2]] | - | max(axis=1) | - | [5., 7.]
mean | [[1, 5], [7, 2]] | - | mean(axis=0) | - | [4. , 3.5]
min | [[1, 5], [7, 2]] | - | min(axis=1) | - | [1., 2.]
nanprod | [2, float('nan'), 3] | - | nanprod() | - | [6.]
nansum | [2, float('nan'), 3] | - | nansum() | - | [5.]
norm | [3, 4] | - | norm() | - | [5.]
one_hot | [0, 2] | - | one_hot(3).shape | - | (2, 3)
ones_like | [5, 7] | - | ones_like() | - | [1., 1.]
pad | [[[[1]]]] | - | pad('edge', (0, 0, 0, 0, 1, 1, 1, 1)).shape | - | (1, 1, 3, 3)
pick | [[1, 2], [3, 4]] | [0, 1] | pick({other}, axis=1) | - | [1., 4.]
prod | [2, 3, 4] | - | prod() | - | [24.]
radians | [0, 180] | - | radians() | round | [0.   , 3.142]
rcbrt | [8, 27] | - | rcbrt() | round | [0.5  , 0.333]
reciprocal | [2, 4] | - | reciprocal() | - | [0.5 , 0.25]
relu | [-1, 2] | - | relu() | - | [0., 2.]
repeat | [1, 2] | - | repeat(2) | - | [1., 1., 2., 2.]
reshape_like | [1, 2, 3, 4] | [[0, 0], [0, 0]] | reshape_like({other}).shape | - | (2, 2)
rint | [-1.5, 1.4] | - | rint() | - | [-2.,  1.]
round | [-1.5, 1.4] | - | round() | - | [-2.,  1.]
rsqrt | [4, 16] | - | rsqrt() | - | [0.5 , 0.25]
shape_array | [[1, 2, 3]] | - | shape_array() | - | [1, 3] int64
sigmoid | [0, 1] | - | sigmoid() | round | [0.5  , 0.731]
sign | [-3, 0, 3] | - | sign() | - | [-1.,  0.,  1.]
sin | [0, 1] | - | sin() | round | [0.   , 0.841]
sinh | [0, 1] | - | sinh() | round | [0.   , 1.175]
size_array | [[1, 2, 3]] | - | size_array() | - | [3] int64
slice | [1, 2, 3, 4] | - | slice(begin=(1,), end=(3,)) | - | [2., 3.]
slice_axis | [[1, 2, 3]] | - | slice_axis(axis=1, begin=0, end=2) | - | [[1., 2.]]
slice_like | [1, 2, 3] | [0, 0] | slice_like({other}) | - | [1., 2.]
softmax | [0, 1] | - | softmax() | round | [0.269, 0.731]
softmin | [0, 1] | - | softmin() | round | [0.731, 0.269]
sort | [3, 1, 2] | - | sort() | - | [1., 2., 3.]
space_to_depth | [[[[1, 2], [3, 4]]]] | - | space_to_depth(2).shape | - | (1, 4, 1, 1)
split | [[1, 2, 3, 4]] | - | split(2, axis=1)[0] | - | [[1., 2.]]
split_v2 | [[1, 2, 3]] | - | split_v2((1,), axis=1)[1] | - | [[2., 3.]]
sqrt | [4, 9] | - | sqrt() | - | [2., 3.]
square | [2, -3] | - | square() | - | [4., 9.]
squeeze | [[1, 2]] | - | squeeze() | - | [1., 2.]
sum | [[1, 2], [3, 4]] | - | sum(axis=1) | - | [3., 7.]
swapaxes | [[1, 2, 3]] | - | swapaxes(0, 1).shape | - | (3, 1)
take | [10, 20, 30] | [2, 0] | take({other}) | - | [30., 10.]
tan | [0, 1] | - | tan() | round | [0.   , 1.557]
tanh | [0, 1] | - | tanh() | round | [0.   , 0.762]
tile | [1, 2] | - | tile((2,)) | - | [1., 2., 1., 2.]
topk | [3, 1, 2] | - | topk(k=2) | - | [0., 2.]
transpose | [[1, 2, 3]] | - | transpose().shape | - | (3, 1)
trunc | [-1.5, 1.5] | - | trunc() | - | [-1.,  1.]
zeros_like | [5, 7] | - | zeros_like() | - | [0., 0.]
"""
