"""Layers of one's own with mx.np: parameters, several results, losses."""
from mxnet import autograd, gluon, init, np, npx
from mxnet.gluon import nn, rnn

npx.set_np()


class MyDense(nn.Block):
    def __init__(self, units: int, in_units: int) -> None:
        super().__init__()
        self.weight = gluon.Parameter("weight", shape=(in_units, units))
        self.bias = gluon.Parameter("bias", shape=(units,), init=init.Zero())

    def forward(self, x: np.ndarray) -> np.ndarray:
        w = self.weight.data(x.device)
        linear = np.dot(x, w) + self.bias.data(x.device)
        return npx.relu(linear)


class RNNModel(nn.Block):
    def __init__(self, layer: rnn.LSTM, vocab: int) -> None:
        super().__init__()
        self.rnn = layer
        self.dense = nn.Dense(vocab)
        self.const = np.random.uniform(size=(2, 2))

    def forward(self, inputs: np.ndarray, state: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
        X = npx.one_hot(inputs.T, 5)
        Y, state = self.rnn(X, state)
        output = self.dense(Y.reshape(-1, Y.shape[-1]))
        return output, state

    def begin_state(self, size: int) -> list[np.ndarray]:
        states: list[np.ndarray] = self.rnn.begin_state(size)
        return states


net = nn.Sequential()
net.add(MyDense(8, 4), MyDense(1, 8))
net.initialize()
x = np.ones((2, 4))
print(net(x).sum(), net[0].weight.data().max())
model = RNNModel(rnn.LSTM(6), 5)
model.initialize(init.Xavier())
state = model.begin_state(2)
out, state = model(np.zeros((2, 3), dtype="int32"), state)
print(out.shape, len(state))
for name, p in model.collect_params().items():
    print(name, p.shape, p.data().mean().item(), p.grad().std())
with autograd.record():
    loss = gluon.loss.L2Loss()(net(x), np.zeros((2, 1))).mean()
loss.backward()
first = net.collect_params()["0.weight"]
change = first.grad() * 2 + np.ones((4, 8))
first.set_data(first.data() - 0.1 * change)
scaled: np.ndarray = first.data() @ np.ones((8, 1))
print(scaled.shape, sum(float((v.data() ** 2).sum()) for v in net.collect_params().values()) > 0)
