/* How many bytes plans of this process hold of weights in their kernels' forms, a library's among
 * them, and how often weights were put into such a form. */
#ifndef MXNET_OPERATOR_SHARED_KEPT_BYTES_H_
#define MXNET_OPERATOR_SHARED_KEPT_BYTES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mxnet {

/* Counts while it lives. */
class KeptBytes {
 public:
  KeptBytes() = default;
  explicit KeptBytes(size_t bytes) { Set(bytes); }
  ~KeptBytes() { Set(0); }
  KeptBytes(const KeptBytes&) = delete;
  KeptBytes& operator=(const KeptBytes&) = delete;
  void Set(size_t bytes) {
    const int64_t before = bytes_;
    bytes_ = static_cast<int64_t>(bytes);
    Count().fetch_add(bytes_ - before, std::memory_order_relaxed);
  }
  static int64_t All() { return Count().load(std::memory_order_relaxed); }

 private:
  static std::atomic<int64_t>& Count();
  int64_t bytes_ = 0;
};

/* Weights are put into a form, to be kept or for one call. */
void CountPackedForm();
/* Of the whole process, since it began. */
int64_t PackedForms();

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_KEPT_BYTES_H_
