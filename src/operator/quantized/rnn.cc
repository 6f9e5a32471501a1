// LSTM layers whose input is quantized: the input becomes numbers again, and RNN does the rest in
// float32, so that results are those of the layers with the input's rounding alone.
#include "operator/nn/rnn/rnn.h"

#include "operator/nn/common/nn_common.h"
#include "operator/quantized/bytes.h"
#include "operator/quantized/quantized.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {
namespace {

using nn::Named;
using nn::Wanted;

constexpr int kArrays = 4, kResults = 3;  // data, parameters, state, state_cell; output and last states

void Check(const Attrs& attrs) {
  const auto& p = attrs.get<nn::RNNParam>();
  MXNET_CHECK_KIND(p.mode == nn::kLstm, Value) << Named(attrs) << "mode '" << attrs.dict.at("mode") << "'; accepted: lstm";
  MXNET_CHECK_KIND(!p.use_sequence_length, Value) << Named(attrs) << "use_sequence_length True; accepted: False";
}

bool LstmShape(const Attrs& attrs, const InferSwitches& switches, ShapeVector* in, ShapeVector* out) {
  Check(attrs);
  ShapeVector own(in->begin(), in->begin() + kArrays), result(kResults + 1);
  std::copy(out->begin(), out->end(), result.begin());
  const bool known = InferCallAs(*Op::Get("RNN"), attrs, switches, &own, &result);
  std::copy(own.begin(), own.end(), in->begin());
  std::copy_n(result.begin(), out->size(), out->begin());
  AssignShape(attrs, "data_scale", &(*in)[kArrays], Shape{1});
  AssignShape(attrs, "data_shift", &(*in)[kArrays + 1], Shape{1});
  return known;
}

bool LstmType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "data", &(*in)[0], kUint8);
  RangeTypes(attrs, in, 1, out);
  AssignType(attrs, "output", &(*out)[0], kFloat32);
  return true;
}

void LstmKernel(KernelArgs& args) {
  const float scale = *args.in[kArrays].data<float>(), shift = *args.in[kArrays + 1].data<float>();
  std::vector<TBlob> in(args.in.begin(), args.in.begin() + kArrays), out(args.out.begin(), args.out.end());
  TBlob& data = in[0];
  const uint8_t* bytes = data.data<uint8_t>();
  data.dtype = kFloat32, data.dptr = nn::Workspace<float>(args, data.Size());
  const float unit = scale != 0 ? 1 / scale : 0;
  ParallelFor(data.Size(), 65536, [&](int64_t b, int64_t e) {
    MXNET_CPU_CALL(BytesToFloats)(bytes + b, true, shift, unit, e - b, data.data<float>() + b);
  });
  for (int i = static_cast<int>(out.size()); i < kResults; ++i) {  // last states that nobody asked for
    out.push_back(in[i + 1]);
    out.back().dptr = nn::Workspace<float>(args, out.back().Size());
  }
  out.emplace_back();  // what RNN keeps for its gradient
  const std::vector<OpReq> req = {OpReq::kWrite, OpReq::kWrite, OpReq::kWrite, OpReq::kNull};
  KernelArgs call = args;
  call.in = in, call.out = out, call.req = req;
  call.is_train = false;
  call.state = nullptr, call.in_versions = {};
  (*Op::Get("RNN")->KernelFor(args.run.ctx.dev_type))(call);
}

MXNET_REGISTER_OP(_contrib_quantized_rnn)
    .describe(
        "Stacked LSTM layers over whole sequences of quantized data: RNN of (data - data_shift) / data_scale.\n\n"
        "data is uint8 of shape (steps, batch, features), as _contrib_quantize_asym gives it with data_scale and data_shift, of shape "
        "(1,). "
        "parameters, state and state_cell are those of RNN, in float32, and so are the results: the output and, with state_outputs, the "
        "last states. mode is lstm, and there are no sequence lengths. uint8.")
    .set_param<nn::RNNParam>()
    .set_inputs({"data", "parameters", "state", "state_cell", "data_scale", "data_shift"})
    .set_list_inputs([](const Attrs&) {
      return std::vector<std::string>{"data", "parameters", "state", "state_cell", "min_data", "max_data"};
    })
    .set_outputs({"output", "state_output", "statecell_ouput"},
                 [](const Attrs& a) { return a.get<nn::RNNParam>().state_outputs ? kResults : 1; })
    .set_list_outputs([](const Attrs& a) {
      std::vector<std::string> names = {"output", "state_output", "statecell_ouput"};  // the last as in 1.9.1
      names.resize(a.get<nn::RNNParam>().state_outputs ? kResults : 1);
      return names;
    })
    .set_infer_shape(LstmShape)
    .set_infer_type(LstmType)
    .set_dtypes({kUint8})
    .set_expensive_to_recompute()
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob>) {
      return 2.0 * static_cast<double>(in[1].Size()) * static_cast<double>(in[0].shape[0] * in[0].shape[1]);
    })
    .set_kernel([](KernelArgs& a) { OnHost(a, LstmKernel); });

}  // namespace
}  // namespace quantized
}  // namespace mxnet
