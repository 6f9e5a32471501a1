/*
 * What the engine costs: empty operations, one written variable, pushed by one thread and drained;
 * a chain of waits; the inline path. Prints the best and the median of `repeats` runs. Usage:
 * engine_push [operations = 1000000] [repeats = 7]
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "mxnet/engine.h"

using mxnet::Context;
using mxnet::Engine;
using mxnet::RunContext;
using mxnet::Var;

namespace {

double Seconds(const std::function<void()>& f) {
  auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void Report(const char* engine, const char* what, int n, int repeats, const std::function<void()>& f) {
  f();  // threads, pools, caches
  std::vector<double> s;
  for (int i = 0; i < repeats; ++i) s.push_back(Seconds(f));
  std::sort(s.begin(), s.end());
  std::printf("%-24s %-34s best %7.1f ns  median %7.1f ns  %6.2f M/s\n", engine, what, s[0] / n * 1e9, s[s.size() / 2] / n * 1e9,
              n / s[s.size() / 2] * 1e-6);
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000000;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 7;
  if (n < 1 || repeats < 1) {
    std::fprintf(stderr, "usage: engine_push [operations >= 1] [repeats >= 1]\n");
    return 2;
  }
  for (const char* type : {"ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine"}) {
    std::unique_ptr<Engine> e(Engine::Create(type));
    Var* a = e->NewVariable();
    Var* b = e->NewVariable();
    Var* c = e->NewVariable();
    Report(type, "push, 1 write, drained", n, repeats, [&] {
      for (int i = 0; i < n; ++i) e->PushSync([](RunContext) {}, Context::CPU(), {}, {a});
      e->WaitForVar(a);
    });
    Report(type, "push, 2 reads 1 write, drained", n, repeats, [&] {
      for (int i = 0; i < n; ++i) e->PushSync([](RunContext) {}, Context::CPU(), {a, b}, {c});
      e->WaitForAll();
    });
    Report(type, "push async, 1 write, drained", n, repeats, [&] {
      for (int i = 0; i < n; ++i) e->PushAsync([](RunContext, mxnet::OnComplete done) { done(); }, Context::CPU(), {}, {a});
      e->WaitForVar(a);
    });
    Report(type, "push in bulks of 15, drained", n, repeats, [&] {
      e->SetBulkSize(15);
      for (int i = 0; i < n; ++i) e->PushSync([](RunContext) {}, Context::CPU(), {}, {a});
      e->SetBulkSize(0);
      e->WaitForVar(a);
    });
    Report(type, "push and wait", n / 10 + 1, repeats, [&] {
      for (int i = 0; i < n / 10 + 1; ++i) {
        e->PushSync([](RunContext) {}, Context::CPU(), {}, {a});
        e->WaitForVar(a);
      }
    });
    Var* reads[] = {a, b};
    Report(type, "TryAcquire + Release, 2 reads 1 write", n, repeats, [&] {
      for (int i = 0; i < n; ++i) {
        if (!e->TryAcquire(reads, 2, &c, 1)) std::abort();
        e->Release(reads, 2, &c, 1);
      }
    });
    Report(type, "NewVariable + DeleteVariable", n, repeats, [&] {
      for (int i = 0; i < n; ++i) e->DeleteVariable({}, Context::CPU(), e->NewVariable());
    });
    for (Var* v : {a, b, c}) e->DeleteVariable({}, Context::CPU(), v);
  }
  return 0;
}
