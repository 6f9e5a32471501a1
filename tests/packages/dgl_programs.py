"""DGL with its MXNet backend: messages, layers that train, readouts, several kinds of nodes."""
import os
import sys
import tempfile

os.environ["DGLBACKEND"] = "mxnet"

import dgl
import dgl.function as fn
import dgl.nn.mxnet as layers
import numpy as np
from dgl.nn.functional import edge_softmax
from filled import fill, show, show_gradients
from mxnet import autograd, gluon, nd

draws = np.random.RandomState(0)
graph = dgl.add_self_loop(dgl.graph((draws.randint(0, 20, 60), draws.randint(0, 20, 60)), num_nodes=20))
x = nd.array(draws.normal(size=(20, 5)))
both = dgl.batch([graph, graph])


def messages():
    print(graph)
    graph.ndata["h"] = x
    graph.edata["w"] = nd.array(draws.uniform(size=(graph.num_edges(), 1)))
    for name, message, reduced in (("sum", fn.u_mul_e("h", "w", "m"), fn.sum), ("max", fn.copy_u("h", "m"), fn.max),
                                   ("mean", fn.copy_u("h", "m"), fn.mean), ("min", fn.u_sub_v("h", "h", "m"), fn.min)):
        graph.update_all(message, reduced("m", "out"))
        show(name, graph.ndata.pop("out"))
    graph.apply_edges(fn.u_dot_v("h", "h", "s"))
    show("dot", graph.edata.pop("s"))
    graph.update_all(lambda edges: {"m": edges.src["h"] * 2}, lambda nodes: {"r": nodes.mailbox["m"].sum(1)})
    show("own functions", graph.ndata.pop("r"))
    print(graph.in_degrees(), graph.out_degrees([1, 2]), graph.edges()[0][:5], graph.has_edges_between([0, 1], [1, 2]))
    part = graph.subgraph([0, 1, 2, 3])
    print(part.num_edges(), part.ndata[dgl.NID], dgl.reverse(graph).edges()[0][:3])


def train(name, net, *inputs, on=graph):
    net.initialize()
    net(on, *inputs)
    fill(net)
    labels = nd.array(np.arange(20) % 3)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    for step in range(4):
        with autograd.record():
            out = net(on, *inputs)
            loss = gluon.loss.SoftmaxCrossEntropyLoss()(out.reshape((20, -1)), labels).mean()
        loss.backward()
        if step == 0:
            show_gradients(name, net)
        trainer.step(1)
    print(name, f"{loss.asscalar():.5f}")
    print(net)


def networks():
    kinds = nd.array(draws.randint(0, 4, graph.num_edges()), dtype="int64")
    edges = nd.array(draws.normal(size=(graph.num_edges(), 4)))
    train("gcn", layers.GraphConv(5, 3), x)
    train("gcn right", layers.GraphConv(5, 3, norm="right", activation=gluon.nn.Activation("relu")), x)
    train("gat", layers.GATConv(5, 3, num_heads=2, residual=True), x)
    for how in ("mean", "pool", "gcn"):
        train(f"sage {how}", layers.SAGEConv(5, 3, how), x)
    train("tag", layers.TAGConv(5, 3, 2), x)
    train("sg", layers.SGConv(5, 3, 2), x)
    train("cheb", layers.ChebConv(5, 3, 2), x, [2.0])
    train("edge", layers.EdgeConv(5, 3), x)
    train("gin", layers.GINConv(gluon.nn.Dense(3, in_units=5), "sum", 0.1, True), x)
    train("gmm", layers.GMMConv(5, 3, 4, 2), x, edges)
    train("rgcn basis", layers.RelGraphConv(5, 3, 4, "basis", 2), x, kinds)
    train("rgcn bdd", layers.RelGraphConv(6, 6, 4, "bdd", 2), nd.array(draws.normal(size=(20, 6))), kinds)
    train("gated", layers.GatedGraphConv(5, 6, 2, 4), x, kinds)


def readouts():
    for name in ("sum_nodes", "mean_nodes", "max_nodes", "softmax_nodes"):
        show(name, getattr(dgl, name)(both, "h"))
    show("topk", *dgl.topk_nodes(both, "h", 2, sortby=0))
    attention = layers.GlobalAttentionPooling(gluon.nn.Dense(1, in_units=5))
    for pool in (layers.SumPooling(), layers.AvgPooling(), layers.MaxPooling(), layers.SortPooling(2), attention, layers.Set2Set(5, 2, 1)):
        pool.initialize()
        pool(both, both.ndata["h"])
        fill(pool)
        show(type(pool).__name__, pool(both, both.ndata["h"]))
    scores = nd.array(draws.normal(size=(graph.num_edges(), 2, 1)))
    scores.attach_grad()
    with autograd.record():
        squares = (edge_softmax(graph, scores) ** 2).sum()
    squares.backward()
    show("edge softmax", squares, scores.grad)


def kinds_of_nodes():
    hetero = dgl.heterograph({("u", "f", "u"): ([0, 1, 2], [1, 2, 0]), ("u", "p", "g"): ([0, 0, 1], [0, 1, 1])})
    hetero.nodes["u"].data["h"] = nd.array([[1, 1], [2, 2], [3, 3]])
    hetero.multi_update_all({"f": (fn.copy_u("h", "m"), fn.sum("m", "a")), "p": (fn.copy_u("h", "m"), fn.sum("m", "b"))}, "sum")
    print(hetero.nodes["u"].data["a"], hetero.nodes["g"].data["b"], hetero)
    with tempfile.TemporaryDirectory() as folder:
        dgl.save_graphs(f"{folder}/graphs.bin", [graph], {"labels": nd.arange(3)})
        (again,), labels = dgl.load_graphs(f"{folder}/graphs.bin")
    print(again.num_edges(), labels, sorted(again.ndata))


for program in (messages, lambda: both.ndata.update({"h": nd.concat(x, x, dim=0)}), networks, readouts, kinds_of_nodes):
    program()
# DGL's library and 1.9.1 do not survive the end of the process together.
sys.stdout.flush()
os._exit(0)
