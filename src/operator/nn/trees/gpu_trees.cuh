// Decision trees: one thread for each example.
#include "rtc/loop.cuh"

namespace kernels {

// As tree_ensemble.cc.
template <typename I, typename T, int fold>
struct tree_ensemble {
  struct Args {
    const T* data;
    const int* nodes;
    const T* values;
    const int* roots;
    const T* weights;
    T* out;
    long long features, num_nodes, trees, leaves, targets, depth;
    long long count;
  };
  static __device__ __forceinline__ bool Yes(int node, T x, T value) {
    if (x != x && (node & 8)) return true;
    switch (node & 7) {
      case 1: return x < value;
      case 2: return x >= value;
      case 3: return x > value;
      case 4: return x == value;
      case 5: return x != value;
      default: return x <= value;
    }
  }
  static __device__ __forceinline__ long long Within(int place, long long count) { return place < 0 || place >= count ? count - 1 : place; }
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const T* x = a.data + i * a.features;
    T* y = a.out + i * a.targets;
    if (a.trees == 0)
      for (long long j = 0; j < a.targets; ++j) y[j] = T(0);
    for (long long tree = 0; tree < a.trees; ++tree) {
      long long at = Within(a.roots[tree], a.num_nodes);
      for (long long level = 0; level < a.depth; ++level) {
        const int* node = a.nodes + at * 3;
        const long long feature = node[0] >> 4;
        const bool yes = Yes(node[0], x[feature < 0 || feature >= a.features ? 0 : feature], a.values[at]);
        const long long next = Within(node[yes ? 1 : 2], a.num_nodes);
        if (next == at) break;
        at = next;
      }
      const T* w = a.weights + Within(a.nodes[at * 3] >> 4, a.leaves) * a.targets;
      for (long long j = 0; j < a.targets; ++j) {
        if (tree == 0)
          y[j] = w[j];
        else if (fold == 0)
          y[j] += w[j];
        else
          y[j] = (fold == 1 ? w[j] < y[j] : y[j] < w[j]) ? w[j] : y[j];
      }
    }
  }
};

}  // namespace kernels
