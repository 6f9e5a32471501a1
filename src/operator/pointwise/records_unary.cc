// Unary operators without parameters: the records that the rows of the table name.
#include "operator/epilogue_op.h"
#include "operator/pointwise/records.h"

namespace mxnet {
namespace pointwise {
namespace {

// data, x: the input's name. bool: NumPy's predicates, any dtype in, bool out.
void Register(int row, const RowRecord& record) {
  const bool predicate = record.how == "bool";
  if (!predicate && record.how != "data" && record.how != "x") UnknownRecord(row, record);
  Op& op = RegisterUnary(record.names[0], row, predicate ? "x" : record.how.c_str());
  FinishRecord(&op, record);
  if (!predicate) return;
  op.set_infer_type(BoolOutputType).set_inplace(std::vector<std::pair<int, int>>{}).set_dtypes(NumberOrBoolTypes());
}

const bool kRegistered = [] {
  for (int row = 0; row < kNumUnary; ++row)
    for (const RowRecord& record : RecordsOf(row)) Register(row, record);
  Op::Register("_softrelu").set_trait(nn::AsEpilogue{[](const Attrs&) { return nn::EpilogueOp{nn::EpilogueKind::kSoftRelu}; }});
  Op::Register("logical_not").set_dtypes(NumberOrBoolTypes());
  return true;
}();

}  // namespace
}  // namespace pointwise
}  // namespace mxnet
