"""The programs of shared.py, for MXNet (this library and 1.9.1) and for PyTorch.

A program takes the framework's module and gives two functions of nothing: a call, and the numbers
by which shared.py sees that every contestant computes the same. All start from the same weights and
biases of zero, so that a parameter's sum also tells its gradient. PyTorch keeps its defaults:
eager execution and its own number of threads; images are channels last there, which is the faster
order on a quiet machine (LeNet's epoch 125 ms for 173)."""
import numpy as np


def start(shapes):
    """The first values of parameters in the networks' order, float32."""
    rng = np.random.RandomState(1)
    return [(rng.randn(*s) * np.prod(s[1:]) ** -0.5 if len(s) > 1 else np.zeros(s)).astype("float32") for s in shapes]


def images_of(count, side):
    """(images of one channel, classes out of ten), float32 and int64"""
    rng = np.random.RandomState(0)
    return rng.rand(count, 1, side, side).astype("float32"), rng.randint(0, 10, count)


def start_block(mx, net, x):
    """Gives the Gluon network its first values; `x`: an input, for the shapes."""
    net.hybridize(static_alloc=True, static_shape=True)
    net.initialize()
    net(x).wait_to_read()
    parameters = list(net.collect_params().values())
    for p, value in zip(parameters, start([p.shape for p in parameters])):
        p.set_data(mx.nd.array(value))
    return lambda: [float(p.data().abs().sum().asscalar()) for p in parameters]


def start_module(torch, net):
    """Gives the PyTorch network its first values."""
    parameters = list(net.parameters())
    with torch.no_grad():
        for p, value in zip(parameters, start([tuple(p.shape) for p in parameters])):
            p.copy_(torch.from_numpy(value))
    return lambda: [float(p.detach().abs().sum()) for p in parameters]


# MXNet's programs.

def small_cnn(mx, filters=8, images=32, side=28):
    """A training step of two convolutions and two dense layers."""
    net = mx.gluon.nn.HybridSequential()
    for n in (filters, 2 * filters):
        net.add(mx.gluon.nn.Conv2D(n, 3, padding=1, activation="relu"), mx.gluon.nn.MaxPool2D())
    net.add(mx.gluon.nn.Dense(64, activation="relu"), mx.gluon.nn.Dense(10))
    x, y = (mx.nd.array(a) for a in images_of(images, side))
    numbers = start_block(mx, net, x)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-3})

    def step():
        with mx.autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(images)
        loss.asnumpy()
    return step, numbers


def wide_cnn(mx):
    """The small net's step with 64 and 128 filters over 32 images of 56 x 56: milliseconds a
    loop."""
    return small_cnn(mx, 64, 32, 56)


def lenet_fit(mx):
    """An epoch of Module.fit over 640 images."""
    import logging
    logging.disable(logging.INFO)
    x = mx.sym.Variable("data")
    for n in (20, 50):
        x = mx.sym.Activation(mx.sym.Convolution(x, kernel=(5, 5), num_filter=n), act_type="tanh")
        x = mx.sym.Pooling(x, pool_type="max", kernel=(2, 2), stride=(2, 2))
    x = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.Flatten(x), num_hidden=500), act_type="tanh")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=10), name="softmax")
    data = mx.io.NDArrayIter(*(a.astype("float32") for a in images_of(640, 28)), 64)
    module = mx.mod.Module(net, context=mx.cpu())
    names = [n for n in net.list_arguments() if n not in ("data", "softmax_label")]
    shapes = dict(zip(net.list_arguments(), net.infer_shape(data=(64, 1, 28, 28))[0]))
    first = dict(zip(names, map(mx.nd.array, start([shapes[n] for n in names]))))
    settings = {"num_epoch": 1, "arg_params": first, "optimizer_params": {"learning_rate": 0.01}}

    def numbers():
        values = module.get_params()[0]
        return [float(values[n].abs().sum().asscalar()) for n in names]
    return lambda: module.fit(data, **settings), numbers


def dense_inference(mx):
    """16 dense layers of 512 over 8 rows."""
    net = mx.gluon.nn.HybridSequential()
    for _ in range(16):
        net.add(mx.gluon.nn.Dense(512, activation="relu"))
    x = mx.nd.ones((8, 512))
    start_block(mx, net, x)
    return lambda: net(x).asnumpy(), lambda: [float(net(x).asnumpy().sum())]


def eager(mx):
    """Twenty eager operators on 250,000 numbers, and a wait."""
    x, y = mx.nd.ones((500, 500)) * 3, mx.nd.ones((500, 500))

    def run():
        z = x
        for _ in range(10):
            z = (z + y) * 0.5
        z.wait_to_read()
        return z
    return run, lambda: [float(run().sum().asscalar())]


# PyTorch's.

def torch_small_cnn(torch, filters=8, images=32, side=28):
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(1, filters, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(filters, 2 * filters, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                        nn.Linear(2 * filters * (side // 4) ** 2, 64), nn.ReLU(), nn.Linear(64, 10))
    numbers = start_module(torch, net)
    net = net.to(memory_format=torch.channels_last)
    x, y = (torch.from_numpy(a) for a in images_of(images, side))
    x = x.to(memory_format=torch.channels_last)
    loss_of, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(net.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        optimizer.step()
        loss.item()
    return step, numbers


def torch_wide_cnn(torch):
    return torch_small_cnn(torch, 64, 32, 56)


def torch_lenet(torch):
    """An epoch with the accuracy of each batch, as Module.fit counts it."""
    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(1, 20, 5), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.Tanh(), nn.MaxPool2d(2),
                        nn.Flatten(), nn.Linear(800, 500), nn.Tanh(), nn.Linear(500, 10))
    numbers = start_module(torch, net)
    net = net.to(memory_format=torch.channels_last)
    x, y = (torch.from_numpy(a) for a in images_of(640, 28))
    loss_of, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(net.parameters(), lr=0.01)

    def epoch():
        right = 0
        for images, classes in zip(x.split(64), y.split(64)):
            optimizer.zero_grad()
            out = net(images.to(memory_format=torch.channels_last))
            loss_of(out, classes).backward()
            optimizer.step()
            right += (out.argmax(1) == classes).sum().item()
    return epoch, numbers


def torch_dense(torch):
    nn = torch.nn
    net = nn.Sequential(*(layer for _ in range(16) for layer in (nn.Linear(512, 512), nn.ReLU())))
    start_module(torch, net)
    x = torch.ones(8, 512)

    def run():
        with torch.inference_mode():
            return net(x).numpy()
    return run, lambda: [float(run().sum())]


def torch_eager(torch):
    x, y = torch.ones(500, 500) * 3, torch.ones(500, 500)

    def run():
        with torch.no_grad():
            z = x
            for _ in range(10):
                z = (z + y) * 0.5
            return z
    return run, lambda: [float(run().sum())]


# name -> (MXNet's program, PyTorch's, calls of the first slice, which tells how many fill one)
PROGRAMS = {"small CNN, step": (small_cnn, torch_small_cnn, 20), "LeNet, epoch": (lenet_fit, torch_lenet, 1),
            "wide CNN, step": (wide_cnn, torch_wide_cnn, 1), "16 dense layers": (dense_inference, torch_dense, 40),
            "20 eager operators": (eager, torch_eager, 40)}
# name -> a network of networks.py, whose inference ONNX Runtime and OpenVINO compute, too
NETWORKS = {"ResNet-50, inference": "resnet50", "BERT-base, inference": "bert_base"}


def program_of(kind, name):
    """The program for a framework, or None where it has none; and the calls of the first slice."""
    if name in PROGRAMS:
        of_mxnet, of_torch, calls = PROGRAMS[name]
        return {"mxnet": of_mxnet, "torch": of_torch}.get(kind), calls
    import shared_networks
    of_mxnet, of_torch, others = shared_networks.programs(NETWORKS[name])
    return {"mxnet": of_mxnet, "torch": of_torch, **others}.get(kind), 2
