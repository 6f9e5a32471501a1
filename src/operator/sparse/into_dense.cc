// Pointwise functions whose result is dense although an operand is sparse. The operand is written
// where the result goes, and the dense kernel works there in place: no other dense array is needed.
#include <string>
#include <utility>
#include <vector>

#include "operator/record/sparse_form.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace sparse {

void IntoDense(KernelArgs& args) {
  const TBlob& out = args.out[0];
  if (args.req[0] == OpReq::kNull || out.Size() == 0) return;
  const SparseParts* main = nullptr;
  bool taken = false;  // the result goes where a dense operand is
  for (const TBlob& in : args.in) {
    if (!main && in.sparse && in.shape == out.shape && in.dtype == out.dtype) main = in.sparse;
    taken = taken || (!in.sparse && in.dptr == out.dptr);
  }
  if (!main || taken) return RunDense(args, 0);  // null: it is repeated, or converted
  std::vector<TBlob> in;
  bool written = false;
  for (const TBlob& b : args.in) {
    if (b.sparse == main && !written) ToDense(args, b, out);
    written = written || b.sparse == main;
    in.push_back(b.sparse == main ? out : AsDense(args, b));
  }
  RunKernel(args, *DenseKernel(args), Span<const TBlob>(in.data(), static_cast<int>(in.size())), out);
}

}  // namespace sparse

namespace {

constexpr StorageType kD = StorageType::kDense, kR = StorageType::kRowSparse;

bool OneIsSparse(const StorageTypes& in) { return IsSparse(in[0]) != IsSparse(in[1]); }

/* f(0, b) and f(a, 0) are something. */
bool TakesOne(const Attrs&, const StorageTypes& in, StorageTypes* out) { return OneIsSparse(in) && GiveStorage(&(*out)[0], kD); }
/* Nor is f(0, 0) 0. */
bool TakesOneOrRows(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  return (OneIsSparse(in) || (in[0] == kR && in[1] == kR)) && GiveStorage(&(*out)[0], kD);
}

[[maybe_unused]] const bool kRegistered = [] {
  const auto declare = [](const char* name, SparseForm::TakesFn takes) {
    DeclareSparse(name, std::move(takes)).set_kernel(DeviceType::kCPU, sparse::IntoDense).set_kernel(DeviceType::kGPU, sparse::IntoDense);
  };
  for (const char* name : {"broadcast_add", "broadcast_sub"}) declare(name, TakesOne);
  for (const char* name : {"elemwise_div", "_power"}) declare(name, TakesOneOrRows);
  return true;
}();

// ---- outputs of regressions, whose labels may be csr

bool TakesLabel(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  if (in[0] != kD || in[1] != StorageType::kCSR) return false;
  for (StorageType& s : *out) GiveStorage(&s, kD);
  return true;
}
/* Only the gradient reads labels. */
void WithLabel(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  TBlob in[2] = {args.in[0], args.in[1]};
  in[1].sparse = nullptr;
  sparse::RunKernel(args, *sparse::DenseKernel(args), Span<const TBlob>(in, 2), args.out[0]);
}

bool TakesLabelForGradient(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  return in[0] == StorageType::kCSR && in[1] == kD && GiveStorage(&(*out)[0], kD);
}

[[maybe_unused]] const bool kRegressions = [] {
  for (const char* name : {"LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"}) {
    DeclareSparse(name, TakesLabel).set_kernel(DeviceType::kCPU, WithLabel).set_kernel(DeviceType::kGPU, WithLabel);
    DeclareSparse(("_backward_" + std::string(name)).c_str(), TakesLabelForGradient)
        .set_kernel(DeviceType::kCPU, sparse::IntoDense)
        .set_kernel(DeviceType::kGPU, sparse::IntoDense);
  }
  return true;
}();

}  // namespace
}  // namespace mxnet
