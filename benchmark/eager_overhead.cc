// Time per eager operator inside the library: Imperative::Invoke on tiny arrays, output allocated
// anew each time.
//   ./dev bench eager_overhead
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mxnet/imperative.h"
#include "mxnet/op.h"

using namespace mxnet;  // NOLINT

namespace {

double Nanoseconds(const AttrsPtr& attrs, std::vector<NDArray*> in, int calls) {
  NDArray out;
  const std::vector<NDArray*> outputs{&out};
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    out = NDArray();
    Imperative::Invoke(attrs, in, outputs);
  }
  out.WaitToRead();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / calls;
}

}  // namespace

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : 50000, repeats = calls < 50000 ? 1 : 7;
  for (int64_t n : {4, 1000}) {
    NDArray a(Shape{n}, Context::CPU()), b(Shape{n}, Context::CPU());
    const std::vector<float> ones(n, 1.0f);
    a.CopyBytesFrom(ones.data(), n * 4);
    b.CopyBytesFrom(ones.data(), n * 4);
    for (const char* op : {"elemwise_add", "broadcast_add", "relu", "_plus_scalar"}) {
      const bool two = std::string(op).find("add") != std::string::npos;
      const AttrsPtr attrs = MakeAttrs(Op::Get(op), std::string(op) == "_plus_scalar" ? AttrDict{{"scalar", "2"}} : AttrDict{});
      std::vector<NDArray*> in{&a};
      if (two) in.push_back(&b);
      double best = 1e30;
      for (int repeat = 0; repeat < repeats; ++repeat) best = std::min(best, Nanoseconds(attrs, in, calls));
      std::printf("%-14s %5lld elements  %7.1f ns\n", op, static_cast<long long>(n), best);
    }
  }
  return 0;
}
