// Functions of one array with f(0) = 0, and their gradients: the dense kernel runs on what is
// stored.
#include <string>

#include "operator/pointwise/rows.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

/* What the parameters, or the function, make of 0 is not stored. */
bool TakesKeepingZero(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  return IsSparse(in[0]) && GiveStorage(&(*out)[0], in[0]) && sparse::KeepsZero(attrs);
}
bool TakesSparse(const Attrs&, const StorageTypes& in, StorageTypes* out) { return IsSparse(in[0]) && GiveStorage(&(*out)[0], in[0]); }

void Declare(const char* name, SparseForm::TakesFn takes) {
  DeclareSparse(name, std::move(takes)).set_in_place().set_kernel(DeviceType::kCPU, sparse::OnValuesOfFirst);
}

/* Records of the table that have a name for sparse arrays. Where the gradient that comes in is 0,
 * so is what goes out: gradients have the elements of the former. */
const bool kRegistered = [] {
  for (int row = 0; row < pointwise::kNumUnary; ++row)
    for (const pointwise::RowRecord& record : pointwise::RecordsOf(row)) {
      bool named = false;
      for (const std::string& name : record.names) named = named || name.compare(0, 8, "_sparse_") == 0;
      if (!named) continue;
      Declare(record.names[0].c_str(), TakesKeepingZero);
      const char uses = pointwise::GetRow(row).uses[0];
      if (uses == 'X' || uses == 'Y' || uses == 'C') Declare(("_backward_" + std::string(pointwise::GetRow(row).name)).c_str(), TakesSparse);
    }
  Declare("clip", TakesKeepingZero);
  Declare("_backward_clip", TakesSparse);
  for (const char* name : {"_plus_scalar", "_minus_scalar", "_equal_scalar", "_not_equal_scalar", "_greater_scalar",
                           "_greater_equal_scalar", "_lesser_scalar", "_lesser_equal_scalar"})
    Declare(name, TakesKeepingZero);
  // of what is stored alone, as in 1.9.1, also where 0 would become something else
  for (const char* name : {"_mul_scalar", "_div_scalar", "_scatter_plus_scalar", "_scatter_minus_scalar"}) Declare(name, TakesSparse);
  return true;
}();

bool TakesQuadratic(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  return in[0] == StorageType::kCSR && TakesKeepingZero(attrs, in, out);
}
[[maybe_unused]] const bool kQuadratic = (Declare("_contrib_quadratic", TakesQuadratic), true);

}  // namespace
}  // namespace mxnet
