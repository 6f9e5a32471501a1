/* What a call of an operator costs: the one place with the figures of these estimates. */
#ifndef MXNET_OPERATOR_RECORD_CALL_COST_H_
#define MXNET_OPERATOR_RECORD_CALL_COST_H_

#include <algorithm>

#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/record/sparse_form.h"
#include "operator/record/traits.h"

namespace mxnet {

/*
 * Counted from shapes and dtypes alone: inputs that are read for their shape do not count, and of
 * one that only chosen elements are read of (ReadsChosen) as many as the result has.
 */
struct CallCost {
  double elements = 0, bytes = 0;  // read and written
  double flops = 0;                // as the record says; one for each element of output 0 where it says nothing
  bool counts_flops = false;       // the record says so
  int64_t largest = 0;             // elements of the largest array

  static constexpr double kCallNs = 100;         // of calling a kernel at all
  static constexpr int64_t kElementsOfRow = 16;  // reaching a row anywhere in memory takes as long

  /*
   * Rough nanoseconds on one core where arrays lie in its caches: an eighth of one per element, and
   * 20 GFLOP/s where the record counts them. Whether another thread is to do the work depends on
   * it.
   */
  double NsInCache() const { return 0.125 * elements + (counts_flops ? 0.05 * flops : 0); }
  /*
   * Rough nanoseconds on a core or two where arrays come from memory and go there, as those of a
   * training step do: what recomputation is weighed by. The ratio of the figures matters, not their
   * size.
   */
  double NsFromMemory() const { return kCallNs + bytes / 10 + flops / 120; }
};

/* stored: of sparse arrays what they store counts, and of the record's flops the share of it. Their
 * parts may be read then. What a sparse result will store is not known yet: no more than is read,
 * as a rule. */
inline CallCost CostOf(const Attrs& attrs, Span<const TBlob> in, Span<const TBlob> out, bool stored = false) {
  const Op& op = *attrs.op;
  CallCost cost;
  const SparseForm* form = stored ? op.trait<SparseForm>() : nullptr;
  const SparseParts* rows = form && form->by_rows && form->by_rows(attrs, in) ? in[1].sparse : nullptr;
  const auto size_of = [stored, rows](const TBlob& blob) {
    if (stored && blob.sparse) return blob.sparse->values.Size();
    return rows ? std::min(blob.Size(), rows->values.Size() + CallCost::kElementsOfRow * rows->stored()) : blob.Size();
  };
  const auto count = [&cost](int64_t elements, const TBlob& blob) {
    cost.elements += static_cast<double>(elements);
    cost.bytes += static_cast<double>(elements) * static_cast<double>(DTypeSize(blob.dtype));
    cost.largest = std::max(cost.largest, elements);
  };
  const ReadsChosen* chosen = op.trait<ReadsChosen>();
  for (int i = 0; i < in.size(); ++i) {
    if (attrs.ReadsOnlyShape(i)) continue;
    const int64_t size = size_of(in[i]);
    count(chosen && chosen->input == i && out.size() > 0 ? std::min(size, out[0].Size()) : size, in[i]);
  }
  const auto read = static_cast<int64_t>(cost.elements);
  for (const TBlob& blob : out) {
    const bool unknown = stored && blob.sparse;
    count(unknown ? in.empty() ? blob.Size() : std::min(blob.Size(), read) : size_of(blob), blob);
  }
  cost.counts_flops = static_cast<bool>(op.flops);
  cost.flops = op.flops ? op.flops(attrs, in, out) : out.empty() ? 0 : static_cast<double>(out[0].Size());
  for (const TBlob& blob : in)
    if (stored && blob.sparse && blob.Size() > 0) cost.flops *= static_cast<double>(size_of(blob)) / static_cast<double>(blob.Size());
  return cost;
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_CALL_COST_H_
