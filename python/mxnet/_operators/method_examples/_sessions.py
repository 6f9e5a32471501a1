"""Examples of methods that need more than a call."""

__all__ = ["SESSIONS"]

# Sessions of an interpreter, each behind the kind and the name of its method in brackets.
SESSIONS = """

[sym.wait_to_read]
>>> y = mx.sym.exp(mx.sym.var('x')).eval(x=mx.nd.zeros(2))[0]
>>> y.wait_to_read()

[sym.asnumpy]
>>> (mx.sym.var('x') * 2).eval(x=mx.nd.array([1, 2]))[0].asnumpy()
array([2., 4.], dtype=float32)

[sym.asscalar]
>>> float((mx.sym.var('x') * 2).eval(x=mx.nd.array([3]))[0].asscalar())
6.0

[sym.copy]
>>> import copy
>>> x = mx.sym.var('x')
>>> y = copy.copy(x)
>>> y._set_attr(note='only in the copy')
>>> x.attr('note') is None, mx.sym.identity(x, name='same').list_outputs()
(True, ['same_output'])

[sym.as_in_context]
>>> mx.sym.var('x').bind(mx.cpu(1), {'x': mx.nd.zeros(2, ctx=mx.cpu(1))}).forward()[0].context
cpu(1)

[sym.detach]
>>> x = mx.sym.var('x')
>>> y = x * mx.sym.BlockGrad(x * x)
>>> executor = y.bind(mx.cpu(), {'x': mx.nd.array([3])}, {'x': mx.nd.zeros(1)})
>>> _ = executor.forward(is_train=True)
>>> executor.backward(mx.nd.ones(1))
>>> executor.grad_dict['x'].asnumpy()
array([9.], dtype=float32)

[sym.backward]
>>> x = mx.sym.var('x')
>>> executor = (x * x).bind(mx.cpu(), {'x': mx.nd.array([3])}, {'x': mx.nd.zeros(1)})
>>> _ = executor.forward(is_train=True)
>>> executor.backward(mx.nd.ones(1))
>>> executor.grad_dict['x'].asnumpy()
array([6.], dtype=float32)

[np.put]
>>> x = mx.np.zeros(4)
>>> x.put([0, 2], [5, 7])
>>> x
array([5., 0., 7., 0.])

[np.asscalar]
>>> mx.np.array([3]).item()
3.0

[np.tostype]
>>> mx.np.ones(2).as_nd_ndarray().tostype('default').stype
'default'

[np.split_v2]
>>> mx.np.split(mx.np.array([1, 2, 3, 4]), [1, 3])
[array([1.]), array([2., 3.]), array([4.])]

[np.shape_array]
>>> mx.np.ones((2, 3)).shape
(2, 3)

[np.size_array]
>>> mx.np.ones((2, 3)).size
6

[np.broadcast_axes]
>>> mx.np.ones((1, 3)).broadcast_to((2, 3)).shape
(2, 3)

[np.broadcast_axis]
>>> mx.np.ones((1, 3)).broadcast_to((2, 3)).shape
(2, 3)

[np.log_sigmoid]
>>> mx.npx.activation(mx.np.array([0, 1]), act_type='log_sigmoid').round(3)
array([-0.693, -0.313])

[np.mish]
>>> mx.npx.activation(mx.np.array([0, 1]), act_type='mish').round(3)
array([0.   , 0.865])

[sym.np.nonzero]
>>> y = mx.sym.npx.nonzero(mx.sym.var('x').as_np_ndarray())
>>> y.eval(x=mx.np.array([[0, 5], [7, 0]]))[0]    # a row for each: its indices
array([[0, 1],
       [1, 0]], dtype=int64)

[sym.np.norm]
>>> y = mx.sym.npx.norm(mx.sym.var('x').as_np_ndarray())
>>> y.eval(x=mx.np.array([3, 4]))[0]
array([5.])

[sym.np.pad]
>>> y = mx.sym.np.pad(mx.sym.var('x').as_np_ndarray(), ((1, 2),))
>>> y.eval(x=mx.np.array([5, 6]))[0]
array([0., 5., 6., 0., 0.])

[sym.np.shape_array]
>>> y = mx.sym.npx.shape_array(mx.sym.var('x').as_np_ndarray())
>>> y.eval(x=mx.np.ones((2, 3)))[0]
array([2, 3], dtype=int64)

[sym.np.take]
>>> indices = mx.sym.var('indices').as_np_ndarray()
>>> y = mx.sym.var('x').as_np_ndarray().take(indices)
>>> y.eval(x=mx.np.array([5, 6, 7]), indices=mx.np.array([2, 0]))[0]
array([7., 5.])

[sym.np.log_sigmoid]
>>> y = mx.sym.npx.activation(mx.sym.var('x').as_np_ndarray(), act_type='log_sigmoid')
>>> y.eval(x=mx.np.array([0, 1]))[0].round(3)
array([-0.693, -0.313])

[sym.np.mish]
>>> y = mx.sym.npx.activation(mx.sym.var('x').as_np_ndarray(), act_type='mish')
>>> y.eval(x=mx.np.array([0, 1]))[0].round(3)
array([0.   , 0.865])

[rng.dirichlet]
>>> draws = mx.np.random.default_rng(7).dirichlet([2, 3, 5], size=10000)
>>> draws.shape, draws.mean(axis=0).round(1)
((10000, 3), array([0.2, 0.3, 0.5]))
"""
