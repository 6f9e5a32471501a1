// Time to replay a compiled plan of 100 tiny operators, by Executor and CachedOp; and to compile
// it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "mxnet/engine.h"
#include "mxnet/executor.h"
#include "mxnet/op.h"

using namespace mxnet;  // NOLINT

namespace {

double Microseconds(const std::function<void()>& fn, int runs) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    fn();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main() {
  Symbol s = Symbol::Variable("x");
  for (int i = 0; i < 100; ++i) {
    Symbol next = Symbol::Atomic(Op::Get("_plus_scalar"), {{"scalar", "1"}});
    next.Compose({s}, {}, "n" + std::to_string(i));
    s = next;
  }
  NDArray x(Shape({4}), Context::CPU());
  const float zeros[4] = {0, 0, 0, 0};
  x.CopyBytesFrom(zeros, sizeof zeros);
  auto executor = Executor::Bind(s, Context::CPU(), {}, {x}, {}, {}, {});
  std::printf("Executor forward, 100 operators of 4 elements: %.2f us\n", Microseconds([&] { executor->Forward(false); }, 5000));
  for (const char* fixed : {"false", "true"}) {
    auto op = CachedOp::Create(s, {{"static_alloc", fixed}});
    std::printf("CachedOp static_alloc=%s: %.2f us\n", fixed,
                Microseconds(
                    [&] {
                      NDArray out;
                      op->Invoke({&x}, {&out});
                    },
                    5000));
  }
  std::printf("bind: %.0f us\n", Microseconds([&] { Executor::Bind(s, Context::CPU(), {}, {x}, {}, {}, {})->Forward(false); }, 50));
  return 0;
}
