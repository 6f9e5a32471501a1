/* What Alloc and Free cost: served from the cache by one and several threads, and the first touch
 * of large blocks. */
#include "mxnet/storage.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

using mxnet::Context;
using mxnet::Storage;

namespace {

double Nanoseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - since).count();
}

double Pairs(size_t bytes, int count) {
  Storage* storage = Storage::Get();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) storage->Free(storage->Alloc(bytes, Context::CPU()));
  return Nanoseconds(start) / count;
}

}  // namespace

int main() {
  Storage* storage = Storage::Get();
  printf("pool %s\n", storage->PoolName(Context::CPU()));
  for (size_t bytes : {16, 4000, 60000, 100000, 4000000}) {
    double best = 1e9;  // of short batches: other programs share the machine
    for (int batch = 0; batch < 1000; ++batch) best = std::min(best, Pairs(bytes, 1000));
    printf("alloc+free of %8zu bytes     %7.1f ns\n", bytes, best);
  }
  for (int count : {2, 4}) {
    std::vector<std::thread> threads;
    const auto start = std::chrono::steady_clock::now();
    for (int t = 0; t < count; ++t) threads.emplace_back([] { Pairs(4000, 1000000); });
    for (auto& thread : threads) thread.join();
    printf("alloc+free on %d threads         %7.1f ns each\n", count, Nanoseconds(start) / 1000000);
  }
  constexpr size_t kLarge = size_t{64} << 20;
  for (int pass = 0; pass < 3; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    const auto handle = storage->Alloc(kLarge, Context::CPU());
    memset(handle.dptr, 1, kLarge);
    printf("first touch of 64 MiB           %7.2f ms\n", Nanoseconds(start) / 1e6);
    storage->DirectFree(handle);
  }
}
