// Unary operators without parameters: the records that the rows of the table name.
#include <algorithm>
#include <vector>

#include "operator/pointwise/records.h"
#include "operator/record/dtypes.h"
#include "operator/record/numpy_types.h"
#include "operator/shared/epilogue_op.h"

namespace mxnet {
namespace pointwise {
namespace {

// The dtype of NumPy's results; an unknown input is what a floating result came from.
template <typename F>
bool ResultType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out, F result) {
  if ((*in)[0] == kDTypeUnknown && IsFloating((*out)[0])) (*in)[0] = (*out)[0];
  AssignType(attrs, "output", &(*out)[0], result((*in)[0]));
  return (*in)[0] != kDTypeUnknown;
}
bool FloatResultType(const Attrs& attrs, const InferSwitches& switches, std::vector<int>* in, std::vector<int>* out) {
  return ResultType(attrs, in, out, [&](int dtype) { return numpy::FloatResult(dtype, switches); });
}
bool WholeResultType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  return ResultType(attrs, in, out, [](int dtype) { return dtype == kBool ? int{kFloat16} : dtype; });
}

void Register(int row, const RowRecord& record) {
  const bool legacy = record.how == "data";
  Op& op = RegisterUnary(record.names[0], row, legacy ? "data" : "x");
  FinishRecord(&op, record);
  if (legacy) return;
  op.set_dtypes(row == k_negative ? dtypes::kNumbers : dtypes::kAll);  // NumPy negates no bools
  if (record.how == "x") return;
  if (record.how == "float")
    op.set_infer_type(FloatResultType);
  else if (record.how == "whole")
    op.set_infer_type(WholeResultType);
  else if (record.how == "bool")
    op.set_infer_type(BoolOutputType).set_inplace(std::vector<std::pair<int, int>>{});
  else
    UnknownRecord(row, record);
}

const bool kRegistered = [] {
  for (int row = 0; row < kNumUnary; ++row)
    for (const RowRecord& record : RecordsOf(row)) Register(row, record);
  Op::Register("_softrelu").set_trait(nn::AsEpilogue{[](const Attrs&) { return nn::EpilogueOp{nn::EpilogueKind::kSoftRelu}; }});
  Op::Register("logical_not").set_dtypes(dtypes::kClassic);
  return true;
}();

}  // namespace
}  // namespace pointwise
}  // namespace mxnet
