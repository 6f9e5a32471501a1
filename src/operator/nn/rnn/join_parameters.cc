// _join_parameters: what the plan compiler makes of the parameters that Gluon keeps apart.
#include "operator/nn/rnn/join_parameters.h"

#include "mxnet/op.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace nn {

struct JoinParametersParam : public Parameter<JoinParametersParam> {
  int num_args;
  MXNET_DECLARE_PARAM(JoinParametersParam) { MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of arrays."); }
};
MXNET_REGISTER_PARAM(JoinParametersParam);

namespace {

constexpr char kName[] = "_join_parameters";

void Join(KernelArgs& args) {
  char* to = static_cast<char*>(args.out[0].dptr);
  for (const TBlob& b : args.in) {
    CopyBytes(args.run, b.dptr, to, static_cast<int64_t>(b.Bytes()));
    to += b.Bytes();
  }
}

bool JoinShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  int64_t size = 0;
  for (const Shape& s : *in) {
    if (!s.known()) return false;
    size += s.Size();
  }
  AssignShape(attrs, "vector", &(*out)[0], Shape({size}));
  return true;
}

MXNET_REGISTER_OP(_join_parameters)
    .describe("The elements of all arrays, one array behind the other, as one vector; made by the plan compiler.")
    .set_param<JoinParametersParam>()
    .set_variadic("data", [](const Attrs& a) { return a.get<JoinParametersParam>().num_args; })
    .set_dtypes(dtypes::kAll)
    .set_outputs({"vector"})
    .set_infer_shape(JoinShape)
    .set_kernel(Join);

}  // namespace

NodePtr MakeJoinedParameters(std::vector<NodeEntry> arrays, const std::string& name) {
  const std::string count = std::to_string(arrays.size());
  return MakeNode(kName, std::move(arrays), {{"num_args", count}}, name);
}

}  // namespace nn
}  // namespace mxnet
