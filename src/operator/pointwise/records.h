/* What the files of records share: dtype sets, kernels and gradients over rows of the table. */
#ifndef MXNET_OPERATOR_POINTWISE_RECORDS_H_
#define MXNET_OPERATOR_POINTWISE_RECORDS_H_

#include <string>
#include <vector>

#include "mxnet/op.h"
#include "operator/pointwise/rows.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace pointwise {

/* Space-separated names become aliases. */
void AddAliases(Op* op, const char* names);
/* What a row's text says of one of its records beyond how it computes: aliases and precision. */
void FinishRecord(Op* op, const RowRecord& record);
[[noreturn]] void UnknownRecord(int row, const RowRecord& record);

/* p, q, r of rows with parameters, for data of this dtype (kDTypeUnknown while graphs are
 * differentiated). */
using ParamsFn = void (*)(const Attrs& attrs, int dtype, double* params);

/* out = row(x); gives shape and type inference (dtype kept), kernel, in-place pair, layout and
 * gradient. */
Op& RegisterUnary(const std::string& name, int row, const char* input_name = "data");
/* The same for a row with parameters; `_backward_NAME` comes with it. The caller sets the parameter
 * struct on both. */
struct ParamOps {
  Op *forward, *backward;  // backward is null when the row's gradient is zero
};
ParamOps RegisterUnaryParam(const std::string& name, int row, ParamsFn params);

/* Of an operator with a number as one operand. Exactly that number: read from text it may be off by
 * some units in the last place of a double. */
AttrsPtr NumberAttrs(const std::string& op, double number);

/* What operators over a row compute (src/operator/record/traits.h). */
Role RoleOfRow(int row);

/* Output bool, whatever the input. */
bool BoolOutputType(const Attrs&, std::vector<int>* in, std::vector<int>* out);
/* Broadcast of all inputs. */
bool BroadcastInputsShape(const Attrs&, ShapeVector* in, ShapeVector* out);

/* Second derivatives: gradient of a node (g, operands...) whose output is g * text, with respect to
 * g and every operand. */
std::vector<NodeEntry> GradientOfBackward(const NodePtr& node, const NodeEntry& ograd, const char* text,
                                          const std::vector<const char*>& operands,
                                          const std::vector<std::pair<const char*, double>>& constants, bool broadcast);

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_RECORDS_H_
