// Inference through one plan from 1 to 8 threads: throughput, and latency at the median, the 99th
// percentile and the worst.
//   ./dev bench threads [seconds per row]
// Entry points: a CachedOp whose work the engine's workers do, a thread-safe CachedOp (callers
// compute), executors that share a plan (what MXPredCreateMultiThread makes). Nets: a dense one of
// some 10 us, a convolutional one of some hundred us.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "mxnet/executor.h"
#include "mxnet/op.h"

using namespace mxnet;  // NOLINT

namespace {

using Clock = std::chrono::steady_clock;

Symbol Make(const std::string& op, const std::vector<Symbol>& inputs, AttrDict dict, const std::string& name) {
  Symbol s = Symbol::Atomic(Op::Get(op), std::move(dict));
  s.Compose(inputs, {}, name);
  return s;
}

struct Net {
  const char* name;
  Symbol symbol;
  Shape data;
};

Net Dense() {
  Symbol x = Symbol::Variable("data");
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    x = Make("relu", {Make("FullyConnected", {x}, {{"num_hidden", "64"}}, "fc" + n)}, {}, "relu" + n);
  }
  return {"dense", x, Shape({1, 64})};
}

Net Convolutional() {
  Symbol x = Symbol::Variable("data");
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    x = Make("Convolution", {x}, {{"kernel", "(3, 3)"}, {"num_filter", "32"}, {"pad", "(1, 1)"}}, "conv" + n);
    x = Make("relu", {x}, {}, "relu" + n);
  }
  return {"convolutional", Make("FullyConnected", {x}, {{"num_hidden", "10"}}, "fc"), Shape({1, 8, 28, 28})};
}

NDArray Filled(const Shape& shape) {
  NDArray a(shape, Context::CPU());
  std::vector<float> values(static_cast<size_t>(shape.Size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.01f * static_cast<float>(i % 7);
  a.CopyBytesFrom(values.data(), values.size() * sizeof(float));
  return a;
}

/* Arrays for the net's inputs; "data" too. */
std::vector<NDArray> Inputs(const Net& net) {
  const IndexedGraph g(net.symbol.outputs);
  ShapeVector shapes(g.num_entries());
  for (uint32_t id : g.input_nodes)
    if (g.nodes[id].source->name == "data") shapes[g.eid(id, 0)] = net.data;
  InferShapes(g, &shapes);
  std::vector<NDArray> arrays;
  for (const auto& n : net.symbol.ListInputs(Symbol::kAll)) arrays.push_back(Filled(shapes[g.eid(g.id.at(n.get()), 0)]));
  return arrays;
}

/* What one caller does, again and again: a call and a wait for its result. */
using Caller = std::function<void()>;

void Measure(const Net& net, const char* entry, int callers, double seconds, const std::function<Caller(int)>& make) {
  std::vector<Caller> calls;
  for (int t = 0; t < callers; ++t) calls.push_back(make(t));
  std::vector<std::vector<double>> times(callers);
  std::atomic<int> ready{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < callers; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) calls[t]();
      ++ready;
      while (ready < callers) std::this_thread::yield();
      while (!stop) {
        const auto begin = Clock::now();
        calls[t]();
        times[t].push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
      }
    });
  }
  while (ready < callers) std::this_thread::yield();
  const auto begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (auto& t : threads) t.join();
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  std::vector<double> all;
  for (const auto& t : times) all.insert(all.end(), t.begin(), t.end());
  std::sort(all.begin(), all.end());
  std::printf("| %s | %s | %d | %.0f | %.0f | %.0f | %.0f |\n", net.name, entry, callers, all.size() / elapsed, all[all.size() / 2],
              all[all.size() * 99 / 100], all.back());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  std::printf("| net | entry point | callers | calls/s | p50 us | p99 us | max us |\n|---|---|---|---|---|---|---|\n");
  for (const Net& net : {Dense(), Convolutional()}) {
    const std::vector<NDArray> inputs = Inputs(net);
    const auto variables = net.symbol.ListInputs(Symbol::kAll);
    auto own = [&] {  // shared weights, data of one's own
      std::vector<NDArray> mine = inputs;
      for (size_t i = 0; i < mine.size(); ++i)
        if (variables[i]->name == "data") mine[i] = Filled(net.data);
      return mine;
    };
    auto cached = [&](const std::shared_ptr<CachedOp>& op) {
      return [&, op](int) -> Caller {
        return [op, mine = own()]() mutable {
          std::vector<NDArray*> in;
          for (auto& a : mine) in.push_back(&a);
          NDArray out;
          op->Invoke(in, {&out});
          out.WaitToRead();
        };
      };
    };
    const auto first = Executor::Bind(net.symbol, Context::CPU(), {}, inputs, {}, {}, {});
    for (int callers : {1, 2, 4, 8}) {
      Measure(net, "engine's workers", callers, seconds,
              cached(CachedOp::Create(net.symbol, {{"static_alloc", "1"}, {"static_shape", "1"}})));
      Measure(net, "thread-safe", callers, seconds,
              cached(CachedOp::Create(net.symbol, {{"static_alloc", "1"}, {"static_shape", "1"}, {"thread_safe", "1"}})));
      Measure(net, "shared plan", callers, seconds, [&](int) -> Caller {
        return [executor = first->SharePlan(own(), {})] {
          executor->Forward(false);
          executor->Outputs()[0].WaitToRead();
        };
      });
    }
  }
  return 0;
}
