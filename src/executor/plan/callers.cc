#include "executor/plan/callers.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <queue>
#include <vector>

#include "base/threads/fork_guard.h"
#include "base/threads/omp.h"

namespace mxnet {
namespace {

/* Numbers of living threads. Never destroyed: threads may end after static objects. */
struct Numbers {
  ForkMutex mutex{ForkLevel::kCaller};
  int next = 0;
  std::priority_queue<int, std::vector<int>, std::greater<int>> free;

  static Numbers& Get() {
    static Numbers* numbers = new Numbers();
    return *numbers;
  }
};

struct Number {
  int value;
  Number() {
    Numbers& n = Numbers::Get();
    std::lock_guard<ForkMutex> lock(n.mutex);
    if (n.free.empty()) {
      value = n.next++;
    } else {
      value = n.free.top();
      n.free.pop();
    }
  }
  ~Number() {
    Numbers& n = Numbers::Get();
    std::lock_guard<ForkMutex> lock(n.mutex);
    n.free.push(value);
  }
};

std::atomic<int> g_computing{0};

}  // namespace

int CallerNumber() {
  static thread_local const Number number;
  return number.value;
}

CallerScope::CallerScope() {
  const int callers = g_computing.fetch_add(1, std::memory_order_relaxed) + 1;
  previous_limit_ = SetThreadOmpLimit(std::max(1, OmpMaxThreads() / callers));
}

CallerScope::~CallerScope() {
  SetThreadOmpLimit(previous_limit_);
  g_computing.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace mxnet
