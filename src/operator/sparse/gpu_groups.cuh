// Ascending numbers: where a new one begins.
#include "operator/shared/search.cuh"
#include "rtc/loop.cuh"

namespace kernels {

template <typename I>
struct group_begins {
  struct Args {
    const long long* sorted;
    unsigned char* begins;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.begins[i] = i == 0 || a.sorted[i] != a.sorted[i - 1]; }
};

// before[i]: how many begin before place i.
template <typename I>
struct write_groups {
  struct Args {
    const long long *sorted, *before;
    long long *ids, *begin;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    const long long g = a.before[i];
    if (i + 1 == a.count) a.begin[a.before[i + 1]] = a.count;
    if (a.before[i + 1] == g) return;
    a.ids[g] = a.sorted[i];
    a.begin[g] = item;
  }
};

// How many of the n ascending numbers are below i.
template <typename I>
struct pointers_of_sorted {
  struct Args {
    const long long* sorted;
    long long* pointers;
    long long n;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long item) {
    a.pointers[i] = mx::FirstNotBelow(a.sorted, 0, a.n, item);
  }
};
}  // namespace kernels
