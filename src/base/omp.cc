#include "base/omp.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

namespace mxnet {

namespace {

thread_local int t_limit = 0;
thread_local bool t_named = false;
thread_local bool t_pool_lost = false;  // in a forked child: this thread's pool has no threads behind it
bool g_pool_released = false;           // written by the forking thread only, around fork

void BeforeFork() { g_pool_released = omp_pause_resource_all(omp_pause_hard) == 0; }
void AfterForkInChild() { t_pool_lost = !g_pool_released; }
const int g_registered = pthread_atfork(BeforeFork, nullptr, AfterForkInChild);

}  // namespace

namespace detail {

int OmpThreadsSlow() {
  if (t_pool_lost || omp_in_parallel()) return 1;
  const int threads = Env::Get().omp_num_threads;
  return t_limit > 0 ? std::min(t_limit, threads) : threads;
}

void ParallelForImpl(int threads, int64_t n, void (*fn)(const void*, int64_t, int64_t), const void* context) {
  threads = static_cast<int>(std::min<int64_t>(threads, n));
  const int64_t base = n / threads, extra = n % threads;  // the first `extra` ranges are one longer
  std::exception_ptr error;
#pragma omp parallel num_threads(threads)
  {
    const int count = omp_get_num_threads();  // OpenMP may give fewer than asked for
    const int self = omp_get_thread_num();
    if (self != 0 && !t_named) {
      SetThreadName("mx-omp");
      t_named = true;
    }
    try {
      for (int k = self; k < threads; k += count) {
        const int64_t begin = k * base + std::min<int64_t>(k, extra);
        fn(context, begin, begin + base + (k < extra));
      }
    } catch (...) {
#pragma omp critical(mxnet_parallel_for_error)
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace detail

int SetThreadOmpLimit(int limit) {
  MXNET_CHECK_KIND(limit >= 0, Value) << "[threads] limit " << limit << "; accepted: 0 (none) or more";
  return std::exchange(t_limit, limit);
}

OmpScope::OmpScope() : previous_(omp_get_max_threads()) {
  const int threads = OmpMaxThreads();
  if (threads != previous_) omp_set_num_threads(threads);
}

OmpScope::~OmpScope() {
  if (omp_get_max_threads() != previous_) omp_set_num_threads(previous_);
}

void SetThreadName(const char* name) {
  char cut[16] = {0};
  std::strncpy(cut, name, sizeof(cut) - 1);
  pthread_setname_np(pthread_self(), cut);
}

}  // namespace mxnet
