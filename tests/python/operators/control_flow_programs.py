"""Programs with loops and branches, and graphs of them: what the tests run here and
record_control_flow.py has run under MXNet 1.9.1. Each program is a function of F (mx.nd or mx.sym)
and of arrays; `rows`: of stacked results only so many are told (1.9.1 leaves the others as they
were).
"""
import numpy as np

_random = np.random.RandomState(7)
PROGRAMS = []   # (name, function, arrays, rows, dtype)


def R(*shape):
    return _random.uniform(-1, 1, shape).astype("float32")


def p(name, function, *arrays, rows=None, dtype="float32"):
    PROGRAMS.append((name, function, arrays, rows, dtype))


def fe(F, *args):
    return F.contrib.foreach(*args)


def wl(F, *args):
    return F.contrib.while_loop(*args)


def co(F, *args):
    return F.contrib.cond(*args)


p('cumsum', lambda F, d, s: fe(F, lambda x, st:(x+st, x+st), d, s), R(4, 3), R(3))
p('1d', lambda F, d, s: fe(F, lambda x, st:(x*2, st*x), d, s), R(5), R(1))
p('closure', lambda F, d, s, w: fe(F, lambda x, st:(F.tanh(x*w+st), st*w+x), d, s), R(4, 3), R(3), R(3))
p('closure expr', lambda F, d, s, w: (lambda q: fe(F, lambda x, st:(F.tanh(x*q+st), st*q+x), d, s))(w*w), R(4, 3), R(3), R(3))
p('fc',
  lambda F, d, s, w, b: fe(F, lambda x, st:(lambda y:(y, y))(F.tanh(F.FullyConnected(x, w, b, num_hidden=4)+st)), d, s), R(5, 2,
    3), R(2, 4), R(4, 3), R(4))
p('rnn',
  lambda F, d, s, w, u: fe(F, lambda x, st:(lambda y:(y*2, y))(F.tanh(F.dot(x, w)+F.dot(st, u))), d, s), R(5, 2, 3), R(2, 4), R(3,
    4), R(4, 4))
p('two data', lambda F, d, e, s: fe(F, lambda x, st:(x[0]*st[0]+x[1], [st[0]+x[1]]), [d, e], [s]), R(3, 2), R(3, 2), R(2))
p('two states', lambda F, d, s, t: fe(F, lambda x, st:([x*st[0], st[1]+x], [st[1], st[0]*x]), d, [s, t]), R(3, 2), R(2), R(2))
p('nested lists',
  lambda F, d, e, s, t: fe(F, lambda x, st:([x[0]+x[1][0], [st[1][0]*x[0]]], [st[0]*x[0], [st[1][0]+x[1][0]]]), [d, [e]], [s,
    [t]]), R(3, 2), R(3, 2), R(2), R(2))
p('no outs', lambda F, d, s: fe(F, lambda x, st:([], st*x), d, s), R(3, 2), R(2))
p('no states', lambda F, d: fe(F, lambda x, st:(F.exp(x), []), d, [])[0], R(3, 2))
p('state only last used', lambda F, d, s: fe(F, lambda x, st:(x*3, st*x), d, s)[1], R(3, 2), R(2))
p('outs only used', lambda F, d, s: fe(F, lambda x, st:(x*st, st*x), d, s)[0], R(3, 2), R(2))
p('state passes', lambda F, d, s: fe(F, lambda x, st:(x*st, st), d, s), R(3, 2), R(2))
p('out is data', lambda F, d, s: fe(F, lambda x, st:(x, st+x), d, s), R(3, 2), R(2))
p('out is closure', lambda F, d, s, w: fe(F, lambda x, st:(w, st+x), d, s), R(3, 2), R(2), R(2))
p('state becomes data', lambda F, d, s: fe(F, lambda x, st:(st*2, x), d, s), R(3, 2), R(2))
p('swap', lambda F, d, s, t: fe(F, lambda x, st:(x+st[0]*0.5, [st[1], st[0]]), d, [s, t]), R(4, 2), R(2), R(2))
p('dup result', lambda F, d, s: fe(F, lambda x, st:(lambda y:([y, y], y))(x*st), d, s), R(3, 2), R(2))
p('reduce', lambda F, d, s: fe(F, lambda x, st:(F.sum(x, axis=0), st+F.mean(x, axis=1)), d, s), R(3, 2, 4), R(2))
p('broadcast',
  lambda F, d, s, w: fe(F, lambda x, st:(F.broadcast_add(x, st), F.broadcast_mul(st, w)), d, s,), R(3, 2, 4), R(1, 4), R(1, 1))
p('conv',
  lambda F, d, s, w: fe(F, lambda x, st:(F.Convolution(x, w, num_filter=2, kernel=(3, 3), no_bias=True), st*1.5), d, s), R(2, 1, 1,
    5, 5), R(2), R(2, 1, 3, 3))
p('softmax', lambda F, d, s: fe(F, lambda x, st:(F.softmax(x+st), F.log_softmax(st)), d, s), R(4, 2, 3), R(2, 3))
p('split',
  lambda F, d, s: fe(F, lambda x, st:(lambda q:([q[0]*st, q[1]], q[0]+q[1]))(F.split(x, num_outputs=2, axis=1)), d, s), R(3, 2, 4),
    R(2, 2))
p('embedding',
  lambda F, d, s, w: fe(F, lambda x, st:(F.Embedding(x, w, input_dim=5, output_dim=3)+st, st*0.5), d, s), np.array([[0, 1], [4, 2],
    [3, 3]], 'float32'), R(2, 3), R(5, 3))
p('relu', lambda F, d, s: fe(F, lambda x, st:(F.relu(x+st), F.LeakyReLU(st-x, slope=0.1)), d, s), R(6, 3), R(3))
p('layernorm', lambda F, d, s, g, b: fe(F, lambda x, st:(F.LayerNorm(x+st, g, b), st*x), d, s), R(3, 2, 4), R(2, 4), R(4), R(4))
p('where', lambda F, d, s: fe(F, lambda x, st:(F.where(x>0, x, st), F.maximum(x, st)), d, s), R(5, 3), R(3))
p('blockgrad', lambda F, d, s: fe(F, lambda x, st:(F.BlockGrad(st)*x, st+x), d, s), R(5, 3), R(3))
p('concat', lambda F, d, s: fe(F, lambda x, st:(F.concat(x, st, dim=0), st-x), d, s), R(3, 2), R(2))
p('take last', lambda F, d, s: F.slice_axis(fe(F, lambda x, st:(x*st, st*x), d, s)[0], axis=0, begin=-1, end=None), R(3, 2), R(2))
p('after ops', lambda F, d, s: F.exp(fe(F, lambda x, st:(x*st, st*x), F.sin(d), F.cos(s))[0]).sum(), R(3, 2), R(2))
p('two loops', lambda F, d, s: fe(F, lambda x, st:(x+st, st*x),*fe(F, lambda x, st:(x*st, st*x), d, s)), R(3, 2), R(2))
p('nested loop', lambda F, d, s, w: fe(F, lambda x, st:fe(F, lambda y, u:(y*w+st, u*y), x, st), d, s), R(3, 4, 2), R(2), R(2))
p('nested loop 3',
  lambda F, d, s: fe(F, lambda x, a:fe(F, lambda y, b:fe(F, lambda z, c:(z*c, c+z), y, b), x, a), d, s), R(2, 3, 2, 2), R(2))
p('nested closure state', lambda F, d, s: fe(F, lambda x, st:(fe(F, lambda y, u:(y*st, u+y), x, st)[1], st*0.5), d, s), R(3, 4, 2),
    R(2))
p('len1', lambda F, d, s: fe(F, lambda x, st:(x*st, st*x), d, s), R(1, 2), R(2))
p('long', lambda F, d, s: fe(F, lambda x, st:(F.tanh(x+st), F.tanh(x*st)), d, s), R(50, 2), R(2))
p('scalar ops', lambda F, d, s: fe(F, lambda x, st:(2/(x+3), st**2-x), d, s), R(3, 2), R(2))
p('batch_dot', lambda F, d, s: fe(F, lambda x, st:(F.batch_dot(x, st), st*0.9), d, s), R(3, 2, 3, 4), R(2, 4, 2))
p('data is closure', lambda F, d, s: fe(F, lambda x, st:(F.broadcast_add(d, x.expand_dims(0)).sum(axis=0), st+x), d, s), R(3, 2), R(2))
p('init is closure', lambda F, d, s: fe(F, lambda x, st:(x+s, st*s), d, s), R(3, 2), R(2))
p('zero state', lambda F, d: fe(F, lambda x, st:(x+st, x*2+st), d, F.zeros((2,))), R(3, 2))
p('zeros_like state',
  lambda F, d: fe(F, lambda x, st:(x+st, x*2+st), d, F.zeros_like(F.slice_axis(d, axis=0, begin=0, end=1).reshape((-1,)))), R(3, 2))

# ---- while_loop
p('w basic', lambda F, i, a, w: wl(F, lambda i, a:i<3, lambda i, a:(i*a, [i+1, a*w]), [i, a], 5), [0.], [2.], [3.], rows=3)
p('w full', lambda F, i, a, w: wl(F, lambda i, a:i<30, lambda i, a:(i*a, [i+1, a*w]), [i, a], 4), [0.], [2.], [3.], rows=4)
p('w vec',
  lambda F, i, a, w: wl(F, lambda i, a:F.sum(a)<9, lambda i, a:(a, [i+1, a*w+0.3]), [i, a], 9), [0.], R(3)+2, R(3)*0.1+1.5, rows=1)
p('w no out', lambda F, i, a: wl(F, lambda i, a:i<3, lambda i, a:([], [i+1, a*a]), [i, a], 5)[1], [0.], [1.1])
p('w single', lambda F, i: wl(F, lambda i:i<3, lambda i:(i*i, i+0.7), i, 9), [0.2], rows=4)
p('w closure expr',
  lambda F, i, a, w: (lambda q: wl(F, lambda i, a:i<q.sum(), lambda i, a:(q*a, [i+1, a+q]), [i, a], 6))(w*2), [0.], [2.,1.],
    [.8,.9], rows=4)
p('w two outs', lambda F, i, a: wl(F, lambda i, a:i<2, lambda i, a:([a, a*a], [i+1, F.sin(a)]), [i, a], 3), [0.], [1.,2.], rows=2)
p('w nested struct',
  lambda F, i, a: wl(F, lambda i, a:i<2, lambda i, a:([a[0], [i]], [i+1, [a[0]*2]]), [i, [a]], 3), [0.], [1.,2.], rows=2)
p('w in fe',
  lambda F, d, s: fe(F, lambda x, st:(wl(F, lambda k, v:k<2, lambda k, v:(v, [k+1, v*x]), [F.zeros((1,)), st], 3)[1][1], st+x), d,
    s), R(3, 2), R(2))
p('fe in w',
  lambda F, i, d: wl(F, lambda i, a:i<3, lambda i, a:(a, [i+1, fe(F, lambda x, st:(x+st, st+x*0.1), a, F.zeros((2,)))[0]]), [i, d],
    4)[1][1], [0.], R(3, 2))

# ---- cond
for v in (1.,0.):
    p('c %d'%v,lambda F,q,a,w: co(F,q,lambda:a*w,lambda:a+w*w),[v],R(3),R(3))
    p('c list %d'%v,lambda F,q,a,w: co(F,q<0.5,lambda:[a*w,F.tanh(a)],lambda:[a+w*w,w]),[v],R(3),R(3))
    p('c one side %d'%v,lambda F,q,a,w: co(F,q,lambda:a*1,lambda:w*2),[v],R(3),R(3))
    p('c nested %d'%v,lambda F,q,a,w: co(F,q,lambda:co(F,a.sum()>0,lambda:a*w,lambda:a-w),lambda:w*2),[v],R(3),R(3))
    p('c direct %d'%v,lambda F,q,a,w: co(F,q,lambda:a,lambda:w),[v],R(3),R(3))
p('c in fe', lambda F, d, s, w: fe(F, lambda x, st:(co(F, F.sum(x)>0, lambda:x*w, lambda:x+st), st+x), d, s), R(6, 3), R(3), R(3))
p('fe in c', lambda F, q, d, s: co(F, q, lambda:fe(F, lambda x, st:(x*st, st+x), d, s)[1], lambda:s*2), [1.], R(4, 3), R(3))
p('w in c', lambda F, q, a: co(F, q, lambda:wl(F, lambda i:F.sum(i)<9, lambda i:(i, i*2), a, 5)[1], lambda:a*3), [1.], R(3)+1.5)
p('fe f64', lambda F, d, s: fe(F, lambda x, st:(x*st, st*x), d, s), R(3, 2), R(2), dtype='float64')
p('fe f16', lambda F, d, s: fe(F, lambda x, st:(x*st, st+x), d, s), R(3, 2), R(2), dtype='float16')
p('fe int state', lambda F, d, s: fe(F, lambda x, st:(x*F.cast(st, 'float32'), st+1), d, F.cast(s, 'int32'))[0], R(3, 2), [1.,2.])


def lstm(F,d,h,c,wi,wh,b):
    def step(x,st):
        g=F.FullyConnected(x,wi,b,num_hidden=16)+F.FullyConnected(st[0],wh,no_bias=True,num_hidden=16)
        i,f,o,u=F.split(g,num_outputs=4,axis=1)
        c2=F.sigmoid(f)*st[1]+F.sigmoid(i)*F.tanh(u)
        h2=F.sigmoid(o)*F.tanh(c2)
        return h2,[h2,c2]
    return fe(F,step,d,[h,c])


p('lstm', lstm, R(7, 3, 5), R(3, 4), R(3, 4), R(16, 5), R(16, 4), R(16))


def graphs(sym):
    """{name: function} that makes a graph; names of everything in it are compared."""
    C, var = sym.contrib, sym.var
    d, s, w, e, i, a, n = (var(k) for k in ("data", "init", "w", "e", "i", "a", "n"))
    expr, parts = sym.square(w, name="expr"), sym.split(d, num_outputs=2, name="parts")

    def twice(x, st):
        y = x + st
        return [y, y * 2], y

    def turned(x, st):
        y = x + st[0] + st[1]
        return [y, x], [st[1], st[0]]

    def halves(x, st):
        q = sym.split(x, num_outputs=2, name="q")
        return [q[0], q[1]], q[0] + st

    def both(x, st):
        q = sym.split(x + st[0] + st[1], num_outputs=2, name="q")
        return x, [q[0], q[1]]

    def inner(x, st):
        return C.foreach(lambda y, u: (y * w + st, u + y), x, st)

    def inner_while(i, a):
        o, _ = C.while_loop(lambda k: k < a, lambda k: (k * i, k + w), i, max_iterations=4)
        return o, [i + 1, a + sym.sum(o)]

    def same(i, a):
        y = i * a
        return [y, y], [y, y]

    def branch(x, st):
        return C.cond(st < n, lambda: x * w, lambda: x + st), st + 1

    return {
        "foreach": lambda: C.foreach(lambda x, st: (x * w + st, st + x), d, s),
        "foreach lists": lambda: C.foreach(lambda x, st: ([x[0] + x[1][0], x[1][1]], [st[0] + x[0], [st[1][0] * 2]]),
                                           [d, [e, var("f")]], [s, [var("t")]]),
        "foreach state passes": lambda: C.foreach(lambda x, st: (x * 2, st), d, s),
        "foreach data is result": lambda: C.foreach(lambda x, st: (x, st + x), d, s),
        "foreach closure is result": lambda: C.foreach(lambda x, st: (w, st + x), d, s),
        "foreach expression is result": lambda: C.foreach(lambda x, st: (expr, st + x), d, s),
        "foreach closure expression": lambda: C.foreach(lambda x, st: (x + expr, st + x), d, s),
        "foreach expression inside": lambda: C.foreach(lambda x, st: (x + w * 2, st + x), d, s),
        "foreach no results": lambda: C.foreach(lambda x, st: ([], st + x), d, s),
        "foreach no states": lambda: C.foreach(lambda x, st: (x * 2, []), d, []),
        "foreach of expressions": lambda: C.foreach(lambda x, st: (x + st, st + x), d * 2, s + 1),
        "foreach named": lambda: C.foreach(lambda x, st: (x + st, st + x), d, s, name="foo"),
        "foreach nested": lambda: C.foreach(inner, d, s),
        "foreach one of several": lambda: C.foreach(lambda x, st: (x + 1, st), parts[1], s),
        "foreach some of several": lambda: C.foreach(lambda x, st: (x[0] * x[1], st), [parts[1], parts[0]], s),
        "foreach closure of several": lambda: C.foreach(lambda x, st: (x + parts[1] + parts[0], st), var("q"), s),
        "foreach twice": lambda: C.foreach(twice, d, s),
        "foreach turned": lambda: C.foreach(turned, d, [s, a]),
        "foreach halves": lambda: C.foreach(halves, d, s),
        "foreach both": lambda: C.foreach(both, d, [s, a]),
        "foreach layer": lambda: C.foreach(lambda x, st: (sym.FullyConnected(x, num_hidden=3, name="fc"), st + 1), d, s),
        "foreach init is closure": lambda: C.foreach(lambda x, st: (x + s, st * x), d, s),
        "foreach data is closure": lambda: C.foreach(lambda x, st: (x + d, st * x), d, s),
        "while": lambda: C.while_loop(lambda i, a: i < n, lambda i, a: (i * a, [i + 1, a + w]), [i, a], max_iterations=3),
        "while one": lambda: C.while_loop(lambda i: i < n, lambda i: (i * 2, i + 1), i, max_iterations=3),
        "while list of one": lambda: C.while_loop(lambda i: i < n, lambda i: ([i * 2], [i + 1]), [i], max_iterations=3),
        "while passes": lambda: C.while_loop(lambda i, a: i < n, lambda i, a: (i * 2, [i + 1, a]), [i, a], max_iterations=3),
        "while turned": lambda: C.while_loop(lambda i, a: i < n, lambda i, a: (i * 2, [a, i]), [i, a], max_iterations=3),
        "while no results": lambda: C.while_loop(lambda i, a: i < n, lambda i, a: (None, [i + 1, a]), [i, a], max_iterations=3),
        "while constant": lambda: C.while_loop(lambda i, a: w, lambda i, a: (a, [i + 1, a]), [i, a], max_iterations=3),
        "while named": lambda: C.while_loop(lambda i, a: i < n, lambda i, a: (i, (i, a)), (i, a), max_iterations=3, name="foo"),
        "while same": lambda: C.while_loop(lambda i, a: i < n, same, [i, a], max_iterations=3),
        "while closures": lambda: C.while_loop(lambda k: k < expr, lambda k: (k * expr, k + w), i, max_iterations=3),
        "while init is closure": lambda: C.while_loop(lambda k: k < i, lambda k: (k * i, k + 1), i, max_iterations=3),
        "while nested": lambda: C.while_loop(lambda i, a: i < n, inner_while, [i, a], max_iterations=3),
        "cond": lambda: C.cond(i < n, lambda: i + a, lambda: i - a),
        "cond lists": lambda: C.cond(i < n, lambda: [i + a, w], lambda: [i - a, a]),
        "cond variables": lambda: C.cond(i, lambda: i, lambda: a),
        "cond same": lambda: C.cond(i < n, lambda: [i] * 2, lambda: [a] * 2, name="foo"),
        "cond one": lambda: C.cond(i < n, lambda: [a + 1], lambda: a * 2),
        "cond expressions": lambda: C.cond(i < n, lambda: parts[0] + w * w, lambda: parts[1]),
        "cond same expression": lambda: C.cond(i < n, lambda: parts[0], lambda: parts[0]),
        "cond in foreach": lambda: C.foreach(branch, d, s),
    }


def leaves(value):
    return sum((leaves(v) for v in value), []) if isinstance(value, (list, tuple)) else [value]


def form(value):
    return [form(v) for v in value] if isinstance(value, (list, tuple)) else 0


def run(mx, function, arrays, rows, dtype, **hybridize):
    """Results, and the gradients of half the sum of the first one's squares and of those of the
    others. Without `hybridize`: eagerly. Of rows that are not told the results are left out."""
    class Block(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, *args):
            return function(F, *args)

    block = Block()
    if hybridize:
        block.hybridize(**hybridize)
    inputs = [mx.nd.array(x, dtype=dtype) for x in arrays]
    for _ in range(2):
        for x in inputs:
            x.attach_grad()
        with mx.autograd.record():
            results = block(*inputs)
            values = leaves(results)
            loss = sum(((v * v).sum() for v in values[1:]), (values[0] * values[0] * 0.5).sum())
        loss.backward()
    numbers = [v.asnumpy().astype("float64") for v in values]
    if rows:
        numbers = [v[:rows] if v.ndim > 1 and v.shape[0] > rows else v for v in numbers]
    return {"form": form(results), "shapes": [list(v.shape) for v in values], "results": [v.ravel().tolist() for v in numbers],
            "grads": [x.grad.asnumpy().astype("float64").ravel().tolist() for x in inputs]}
