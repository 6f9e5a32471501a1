"""Names that nodes get: what test_symbol_names.py compares with MXNet 1.9.1.

    python symbol_names.py record data/symbol_names.json        under MXNet 1.9.1: fills in what the cases of that file give there
"""
import json
import os
import sys

import mxnet as mx

FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data', 'symbol_names.json')
V = mx.sym.var


def describe(symbol):
    """Everything that is named: arguments, outputs, auxiliary states, outputs of all nodes,
    attributes."""
    if isinstance(symbol, (list, tuple)):
        symbol = mx.sym.Group(list(symbol))
    return [symbol.list_arguments(), symbol.list_outputs(), symbol.list_auxiliary_states(),
            symbol.get_internals().list_outputs(), symbol.attr_dict()]


def build(case, mode):
    """A node of an operator: 0 with automatic names behind another node, 1 with a given name and
    automatic variables, 2 with given ones."""
    namespace, function, params, inputs, variadic = case
    module = getattr(mx.sym, namespace) if namespace else mx.sym
    operator = getattr(module, function)
    params = {k: tuple(v) if isinstance(v, list) else v for k, v in params.items()}
    if mode:
        params['name'] = 'given'
    with mx.name.NameManager():
        if variadic:
            values = [V(f'v{i}') if mode else mx.sym.exp(V(f'v{i}')) for i in range(params.get(variadic, 2))]
            return operator(*values, **params)
        if mode == 2:
            return operator(*[V('v_' + name) for name in inputs], **params)
        if mode == 0 and inputs:
            params[inputs[0]] = mx.sym.exp(V('v'))
        return operator(**params)


def evaluate(text):
    """The symbol of an expression, its automatic names beginning at 0."""
    with mx.name.NameManager():
        return eval(text, {'S': mx.sym, 'V': V, 'mx': mx})   # our own expressions, below


# Recurrent cells, of a list of steps and of one array.
PAIRS = ("[mx.rnn.LSTMCell(4,prefix='l_'),mx.rnn.GRUCell(4,prefix='r_')]",
         "[mx.rnn.FusedRNNCell(4,mode='gru',prefix='l_'),mx.rnn.FusedRNNCell(4,mode='lstm',prefix='r_')]",
         "[mx.rnn.FusedRNNCell(4,mode='gru',prefix='l_'),mx.rnn.LSTMCell(4,prefix='r_')]")
CELLS = ["mx.rnn.FusedRNNCell(4,num_layers=2,mode='lstm',prefix='f_')", *(f"mx.rnn.BidirectionalCell(*{p})" for p in PAIRS)]
UNROLLED = [f"{cell}.unroll(2,{steps},layout='{layout}',merge_outputs={merge})[0]" for cell in CELLS
            for steps in ("[V('x'),V('y')]", "V('x')") for layout in ("NTC", "TNC") for merge in (None, True, False)]

EXPRESSIONS = [
    "S.topk(V('x'),ret_typ='both')",
    "S.topk(V('x'),ret_typ='mask')",
    "S.topk(V('x'))",
    "S.topk(V('x'),ret_typ='value')",
    "S.argsort(V('x'))",
    "S.BatchNorm(V('x'),output_mean_var=True)",
    "S.LayerNorm(V('x'),output_mean_var=True)",
    "S.GroupNorm(V('x'),output_mean_var=True)",
    "S.InstanceNorm(V('x'))",
    "S.RNN(V('x'),state_size=2,num_layers=1,mode='lstm',state_outputs=True)",
    "S.RNN(V('x'),state_size=2,num_layers=1,mode='gru',state_outputs=True)",
    "S.RNN(V('x'),state_size=2,num_layers=1,mode='rnn_relu')",
    "S.RNN(V('x'),state_size=2,num_layers=1,mode='lstm',use_sequence_length=True)",
    "S.SliceChannel(V('x'),num_outputs=1)",
    "S.split(V('x'),num_outputs=3)",
    "S.split(V('x'),num_outputs=3,squeeze_axis=True)",
    "S.split_v2(V('x'),3)",
    "S.split_v2(V('x'),(1,3))",
    "S._internal._sample_multinomial(V('x'),get_prob=True)",
    "S.random.multinomial(V('x'),get_prob=True)",
    "S.random.multinomial(V('x'))",
    "S.histogram(V('x'),bins=3,range=(0,1))",
    "S.histogram(V('x'),V('b'))",
    "S.moments(V('x'),axes=(0,))",
    "S.norm(V('x'))",
    "S.Dropout(V('x'))",
    "S.LeakyReLU(V('x'),act_type='prelu')",
    "S.LeakyReLU(V('x'),act_type='rrelu')",
    "S.LeakyReLU(V('x'),V('g'),act_type='prelu')",
    "S.MakeLoss(V('x'))",
    "S.make_loss(V('x'))",
    "S.Pooling(V('x'),kernel=(2,2))",
    "S.Convolution(V('x'),kernel=(2,2),num_filter=2,no_bias=True)",
    "S.Deconvolution(V('x'),kernel=(2,2),num_filter=2)",
    "S.Deconvolution(V('x'),kernel=(2,2),num_filter=2,no_bias=False)",
    "S.FullyConnected(V('x'),num_hidden=2,no_bias=True)",
    "S.UpSampling(V('x'),scale=2,sample_type='bilinear',num_filter=2,num_args=1)",
    "S.SequenceMask(V('x'),use_sequence_length=True)",
    "S.SequenceLast(V('x'),use_sequence_length=True)",
    "S.softmax(V('x'),use_length=True)",
    "S.CTCLoss(V('x'),V('y'),use_data_lengths=True,use_label_lengths=True)",
    "S.CTCLoss(V('x'),V('y'))",
    "V('x')+V('y')",
    "V('x')-V('y')",
    "V('x')*V('y')",
    "V('x')/V('y')",
    "V('x')%V('y')",
    "V('x')**V('y')",
    "V('x')==V('y')",
    "V('x')!=V('y')",
    "V('x')>V('y')",
    "V('x')>=V('y')",
    "V('x')<V('y')",
    "V('x')<=V('y')",
    "V('x')+1",
    "1+V('x')",
    "V('x')-1",
    "1-V('x')",
    "V('x')*2",
    "2*V('x')",
    "V('x')/2",
    "2/V('x')",
    "V('x')%2",
    "2%V('x')",
    "V('x')**2",
    "2**V('x')",
    "V('x')==2",
    "V('x')!=2",
    "V('x')>2",
    "V('x')>=2",
    "V('x')<2",
    "V('x')<=2",
    "2>V('x')",
    "-V('x')",
    "abs(V('x'))",
    "V('x')+1.5",
    "V('x')+mx.nd.ones(1).asnumpy()[0]",
    "S.maximum(V('x'),V('y'))",
    "S.maximum(V('x'),2)",
    "S.maximum(2,V('x'))",
    "S.minimum(V('x'),V('y'))",
    "S.minimum(V('x'),2)",
    "S.hypot(V('x'),V('y'))",
    "S.hypot(V('x'),2)",
    "S.power(V('x'),V('y'))",
    "S.power(V('x'),2)",
    "S.power(2,V('x'))",
    "S.pow(V('x'),2)",
    'S.zeros((2,3))',
    'S.ones((2,3))',
    'S.ones(2)',
    'S.full((2,),3)',
    "S.full((2,),3,dtype='int32')",
    'S.arange(5)',
    "S.arange(0,5,2,repeat=2,name='ar',dtype='int32')",
    'S.arange(0,None,infer_range=True)',
    'S.linspace(0,1,5)',
    'S.eye(3)',
    "S.eye(3,4,1,dtype='int32')",
    "S.zeros((2,),dtype='float16')",
    "S.zeros((2,),name='zz')",
    'S.random.uniform(0,1,(2,))',
    "S.random.uniform(V('x'),V('y'),(2,))",
    'S.random.normal(0,1,(2,))',
    "S.random.normal(V('x'),V('y'),(2,))",
    'S.random.gamma(1,1,(2,))',
    'S.random.exponential(1,(2,))',
    'S.random.poisson(1,(2,))',
    'S.random.negative_binomial(1,.5,(2,))',
    'S.random.generalized_negative_binomial(1,1,(2,))',
    'S.random.randint(0,5,(2,))',
    "S.random.shuffle(V('x'))",
    'S.random.randn(2,3)',
    "V('x').slice(begin=(0,),end=(1,))",
    "V('x').reshape((2,3))",
    "V('x').reshape(shape=(2,-1))",
    "V('x').astype('float16')",
    "V('x').transpose()",
    "V('x').transpose((1,0))",
    "V('x').flatten()",
    "V('x').expand_dims(0)",
    "V('x').squeeze()",
    "V('x').squeeze(axis=0)",
    "V('x').sum()",
    "V('x').sum(axis=1,keepdims=True)",
    "V('x').mean(axis=(0,1))",
    "V('x').max()",
    "V('x').min(axis=0)",
    "V('x').prod()",
    "V('x').nansum()",
    "V('x').norm()",
    "V('x').argmax(axis=1)",
    "V('x').argmin()",
    "V('x').clip(0,1)",
    "V('x').exp()",
    "V('x').log()",
    "V('x').sqrt()",
    "V('x').abs()",
    "V('x').sign()",
    "V('x').round()",
    "V('x').relu()",
    "V('x').sigmoid()",
    "V('x').tanh()",
    "V('x').softmax()",
    "V('x').log_softmax()",
    "S.dot(V('x'),V('y'))",
    "V('x').dot(V('y')) if hasattr(V('x'),'dot') else V('x')",
    "V('x').take(V('i'))",
    "V('x').pick(V('i'))",
    "V('x').one_hot(3)",
    "V('x').tile((2,2))",
    "V('x').repeat(2)",
    "V('x').flip(axis=0)",
    "V('x').swapaxes(0,1)",
    "V('x').split(2)",
    "V('x').split(num_outputs=2,axis=0)",
    "V('x').split_v2(2)",
    "V('x').slice_axis(axis=0,begin=0,end=1)",
    "V('x').slice_like(V('y'))",
    "V('x').broadcast_to((2,3))",
    "V('x').broadcast_like(V('y'))",
    "V('x').broadcast_axes(axis=0,size=2)",
    "V('x').topk(k=2)",
    "V('x').sort()",
    "V('x').argsort()",
    "V('x').diag()",
    "V('x').pad(mode='constant',pad_width=(0,0,0,0,1,1,1,1))",
    "V('x').zeros_like()",
    "V('x').ones_like()",
    "V('x').reshape_like(V('y'))",
    "V('x').depth_to_space(2)",
    "V('x').space_to_depth(2)",
    "V('x').square()",
    "V('x').rsqrt()",
    "V('x').cbrt()",
    "V('x').reciprocal()",
    "V('x').floor()",
    "V('x').ceil()",
    "V('x').trunc()",
    "V('x').fix()",
    "V('x').rint()",
    "V('x').sin()",
    "V('x').log1p()",
    "V('x').expm1()",
    "V('x').argmax_channel()",
    "V('x').nanprod()",
    "V('x').shape_array()",
    "V('x').size_array()",
    "V('x').softmin()",
    "S.concat(V('x'),V('y'),dim=0)",
    "S.Concat(V('x'),V('y'))",
    "S.Concat(*[V('x'),V('y')],name='cc')",
    "S.stack(V('x'),V('y'))",
    "S.add_n(V('x'),V('y'))",
    "S.ElementWiseSum(V('x'),V('y'))",
    "S.Group([V('x')+1,V('y')*2])",
    "S.split(V('x'),num_outputs=3)[1]",
    "S.split(V('x'),num_outputs=3)[1:]",
    "S.split(V('x'),num_outputs=3,name='s')['s_output2']",
    "(V('x')+1).get_internals()[0:1]",
    "S.where(V('c'),V('x'),V('y'))",
    "S.FullyConnected(V('x'),num_hidden=2,lr_mult='2')",
    "mx.sym.var('w',shape=(2,3),lr_mult=2,wd_mult=3,dtype='float16',init=mx.init.One(),stype='default',attr={'a':'b'})",
    "mx.sym.var('w',__foo__='1')",
    "mx.rnn.LSTMCell(3).unroll(2,V('data'),merge_outputs=True)[0]",
    "mx.rnn.GRUCell(3,prefix='g_').unroll(2,V('data'))[0]",
    "mx.rnn.SequentialRNNCell().unroll if 0 else S.Group(mx.rnn.RNNCell(3).unroll(2,[V('a'),V('b')],merge_outputs=False)[0])",
    "mx.rnn.FusedRNNCell(3,num_layers=2,mode='lstm').unroll(2,V('data'),merge_outputs=True)[0]",
    "(lambda s:(s.add(mx.rnn.LSTMCell(3,prefix='a_')),s.add(mx.rnn.ResidualCell(mx.rnn.LSTMCell(3,prefix='b_'))),s)[-1])"
    "(mx.rnn.SequentialRNNCell()).unroll(2,V('data'),merge_outputs=True)[0]",
    "mx.rnn.DropoutCell(0.5).unroll(2,V('data'),merge_outputs=True)[0]",
    "(S.FullyConnected(V('data'),num_hidden=2,name='fc'))(data=S.exp(V('q')))",
    "(S.FullyConnected(V('data'),num_hidden=2,name='fc'))(data=S.exp(V('q')),name='newname')",
    "mx.gluon.loss.L2Loss()(V('x'),V('y'))",
    "mx.gluon.loss.CosineEmbeddingLoss()(V('x'),V('y'),V('z'))",
    "mx.gluon.loss.CTCLoss()(V('x'),V('y'))",
    "mx.gluon.nn.ReflectionPad2D(1)(V('x'))",
    "mx.gluon.nn.Dense(3,prefix='d_')(V('x'))",
    "mx.gluon.nn.Conv2D(3,3,prefix='c_')(V('x'))",
    "mx.gluon.nn.BatchNorm(prefix='b_')(V('x'))",
    "mx.gluon.nn.PReLU(prefix='p_')(V('x'))",
    *UNROLLED,
]


def main(command, path):
    assert command == 'record', command
    with open(path) as file:
        data = json.load(file)
    data['operators'] = [[case, [describe(build(case, mode)) if recorded else None for mode, recorded in enumerate(results)]]
                         for case, results in data['operators']]
    data['expressions'] = {text: describe(evaluate(text)) for text in EXPRESSIONS}
    with open(path, 'w') as file:
        rows = ',\n'.join(json.dumps(row, separators=(',', ':')) for row in data['operators'])
        texts = ',\n'.join(f'{json.dumps(k)}:{json.dumps(v, separators=(",", ":"))}' for k, v in data['expressions'].items())
        file.write(f'{{"operators":[\n{rows}],\n"expressions":{{\n{texts}}}}}\n')


if __name__ == '__main__':
    main(*sys.argv[1:])
