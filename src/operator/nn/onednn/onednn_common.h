/*
 * oneDNN for the *_onednn.cc files of this folder.
 *
 * Primitives are kept per thread, keyed by what they depend on (Key), the least recently used being
 * dropped beyond MXNET_ONEDNN_CACHE_NUM. A kept entry owns memory objects that are pointed at new
 * buffers for every call, so an entry must not leave its thread. Scratchpads are given by the
 * caller (KernelArgs::workspace).
 */
#ifndef MXNET_OPERATOR_NN_ONEDNN_ONEDNN_COMMON_H_
#define MXNET_OPERATOR_NN_ONEDNN_ONEDNN_COMMON_H_

#include <dnnl.hpp>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "base/ran.h"
#include "mxnet/kernel_args.h"
#include "operator/nn/common/epilogue.h"
#include "operator/shared/kept_bytes.h"

namespace mxnet {
namespace nn {

dnnl::engine& OnednnEngine();
dnnl::stream& OnednnStream();  // this thread's

/* False: the type is not computed in on this machine (float64; half types without instructions). */
bool OnednnType(int dtype, dnnl::memory::data_type* type);
/* As OnednnType, of products of matrices of half types. */
bool OnednnProductType(int dtype, dnnl::memory::data_type* type);

/* The instructions of its float32 kernels. */
RanAt OnednnLevel();

/* What a primitive is called there, for Ran(). */
template <typename Description>
RanPart OnednnName(const Description& pd) {
  return RanOfLibrary("oneDNN", pd.impl_info_str(), OnednnLevel());
}

/* Are its sums of products of 8-bit integers exact on this processor? */
bool AddsBytesExactly();

void AppendPost(const EpilogueOp& post, dnnl::post_ops* ops);
/* result = post(result, plus what was there when `accumulate`) */
void SetPost(dnnl::primitive_attr* attr, bool accumulate, const EpilogueOp& post);

class Key {
 public:
  template <typename T>
  Key& Add(const T& plain) {
    static_assert(std::is_trivially_copyable<T>::value, "bytes are compared");
    bytes_.append(reinterpret_cast<const char*>(&plain), sizeof(T));
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct CacheEntry {
  virtual ~CacheEntry() = default;
};
/* This thread's entry for `key`; made by `make` when there is none. `make` may return null for "not
 * supported", which is kept too. */
CacheEntry* CachedEntry(const Key& key, const std::function<std::unique_ptr<CacheEntry>()>& make);
/* Is it there, or known to be "not supported"? */
bool HasEntry(const Key& key);
/* Entries that this thread keeps. For tests. */
size_t CachedEntries();

/*
 * One operand of a primitive: the order in which the caller has it and the one that the primitive
 * wants, with the reorder in between where they differ.
 */
struct Operand {
  dnnl::memory user, inner;
  dnnl::reorder to_inner, to_user;
  bool differs = false;
  size_t inner_bytes = 0;  // where the orders differ
  uint64_t form = 0;       // stands for both orders then
  /* `from_user`: inputs; `into_user`: outputs. */
  void Init(const dnnl::memory::desc& user_desc, const dnnl::memory::desc& inner_desc);
  /* Points the operand at `ptr`; returns the memory for the primitive. An input is converted, into
   * `buffer` or else workspace memory. */
  dnnl::memory& Input(KernelArgs& args, const void* ptr);
  dnnl::memory& Output(KernelArgs& args, void* ptr);
  void StoreOutput();
  /* Converts an input from `ptr` into `buffer` (inner_bytes) now. */
  void Pack(const void* ptr, void* buffer);
  dnnl::memory& UsePacked(void* buffer);
};

/*
 * The weight as the primitive wants it: packed once per version of an inference plan's, and shared
 * as KeptWeights says; else converted for this call. `more`: what else the primitive's order of
 * elements depends on, sums that it keeps behind them for example. Asks for the weight before it
 * reads it (AsksForWeights).
 */
dnnl::memory& Weight(KernelArgs& args, Operand* weight, const void* ptr, int input, uint64_t more = 0);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_ONEDNN_ONEDNN_COMMON_H_
