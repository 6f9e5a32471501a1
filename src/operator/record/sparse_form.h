/*
 * How operators run on arrays that are not all dense.
 *
 * A record has one sparse form at most, declared beside the form's kernel:
 *
 *   MXNET_REGISTER_SPARSE(dot, TakesDot).set_kernel(DeviceType::kCPU, DotSparse);
 *
 * The form becomes a record of its own, of the same name, parameters and inference: a call, or a
 * node of a plan, whose storages the form takes gets that record in place of the dense one. So
 * whoever asks the record for traits, pairs in place or layouts finds none, and leaves it alone.
 * What no form takes runs dense: copies of its inputs are made dense, and results are cast.
 */
#ifndef MXNET_OPERATOR_RECORD_SPARSE_FORM_H_
#define MXNET_OPERATOR_RECORD_SPARSE_FORM_H_

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "mxnet/op.h"

namespace mxnet {

using StorageTypes = std::vector<StorageType>;

struct SparseForm {
  /*
   * Does the form compute this? `in`: all known. `out`: kUndefined is filled in; others are wishes,
   * which the form may refuse by returning false; it is then asked again without wishes. `*out`
   * all dense with dense inputs: the dense kernel runs. Wishes of the backward pass are the
   * storages of gradient arrays.
   */
  using TakesFn = std::function<bool(const Attrs&, const StorageTypes& in, StorageTypes* out)>;
  using FlopsFn = decltype(Op::flops);
  TakesFn takes;
  /*
   * Kernels see what is dense by TBlob::dptr and what is sparse by TBlob::sparse, settled
   * (SparseParts::Settle). Outputs are written, never added to. One for the CPU alone computes
   * for GPUs on copies, and so does one for GPUs where it calls ComputeOnHost. On a GPU, parts get
   * memory by ResizeOnStream (ndarray/sparse_copy.h).
   */
  std::map<DeviceType, Kernel> kernels;
  bool in_place = false;  // honours the record's pairs in place, of any storage
  /* What it would compute if every element were stored (CostOf takes the share that is); empty: as
   * much as it writes. */
  FlopsFn flops;
  /* Does it touch dense arrays in those rows alone that input 1 stores? Empty: no. */
  std::function<bool(const Attrs&, Span<const TBlob> in)> by_rows;

  SparseForm& set_kernel(DeviceType device, Kernel kernel) {
    kernels[device] = std::move(kernel);
    return *this;
  }
  /* It may make sparse results of dense inputs without a wish (Op::makes_sparse). */
  SparseForm& set_from_dense() {
    dense->makes_sparse = true;
    return *this;
  }
  SparseForm& set_flops(FlopsFn f) {
    flops = std::move(f);
    return *this;
  }
  SparseForm& set_in_place() {
    in_place = true;
    return *this;
  }
  struct Made;
  std::shared_ptr<Made> made;  // the form's record
  Op* dense = nullptr;
};

/* Of an operator that works on arrays of any storage by itself: copies, programs' own functions. It
 * is called as if all were dense. */
struct TakesAnyStorage {};

/* Of an operator whose gradients may be sparse although all that it gets is dense. */
struct MakesSparseGradient {
  bool (*when)(const Attrs&);
};

/* The declaration for the record of that name, which may be registered later. */
SparseForm& DeclareSparse(const char* name, SparseForm::TakesFn takes);
#define MXNET_REGISTER_SPARSE(name, takes) \
  static ::mxnet::SparseForm& MXNET_REG_CONCAT(mxnet_sparse_, __COUNTER__) [[maybe_unused]] = ::mxnet::DeclareSparse(#name, takes)

/* The form of a record, or null. Costs a search. */
const SparseForm* SparseFormOf(const Op& op);

/* How a call is carried out. */
enum class StorageWay : uint8_t { kDense, kForm, kFallback };
/*
 * `in`: kUndefined counts as dense. `*out`: given ones are wishes; on return what the call makes,
 * which a wish may differ from: then the caller casts.
 */
StorageWay InferStorage(const Attrs& attrs, const StorageTypes& in, StorageTypes* out);

/* The same parameters with the form's record. REQUIRES: there is a form. */
AttrsPtr AttrsOfForm(const AttrsPtr& attrs);
/* Of a node of a graph, whose results have these storages whatever inference would say. */
AttrsPtr AttrsOfForm(const AttrsPtr& attrs, const StorageTypes& out);

/* The same parameters with the dense record, for whoever has arrays of other storages: a form's
 * kernel takes those alone that it was chosen for. Null: it is no form's. */
AttrsPtr AttrsOfDense(const Attrs& attrs);

/* For a form's kernel for GPUs, of calls that it leaves to the one for the CPU: on copies on the
 * host. */
void ComputeOnHost(KernelArgs& args);

/* Has an operator no kernel for these? Says so once for each operator and storages, unless the
 * environment wants no such lines (MXNET_STORAGE_FALLBACK_LOG_VERBOSE), and counts it; the profiler
 * has a marker of each in the domain storage_fallback. */
void NoteFallback(const Attrs& attrs, const StorageTypes& in, const StorageTypes& out);
/* How many calls and nodes ran dense so far. */
uint64_t CountFallbacks();

// ---- common answers

/* Records whose results have the storage of input 0, and whose other inputs are dense. */
bool TakesLikeFirst(const Attrs&, const StorageTypes& in, StorageTypes* out);
/* *into is `storage`, or was a wish for it. */
inline bool GiveStorage(StorageType* into, StorageType storage) {
  if (*into == StorageType::kUndefined) *into = storage;
  return *into == storage;
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_SPARSE_FORM_H_
