// Operators on 8-bit integers that move them, or put them in one range: what they stand for changes
// no more than by rounding.
#include <cstring>

#include "base/ran.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/concat.h"
#include "operator/matrix/join_pieces.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/quantized/bytes.h"
#include "operator/quantized/quantized.h"
#include "operator/record/dtypes.h"
#include "operator/record/traits.h"
#include "operator/shared/on_host.h"

namespace mxnet {
namespace quantized {
namespace {

using nn::Named;
using nn::Wanted;

// ---- another shape or order

/* Output 0 as the operator `name` moves data. */
Op& MoveRecord(const char* record, const char* name, const char* text, dtypes::Set accepted = dtypes::kBytes) {
  return Op::Register(record)
      .describe(std::string(text) +
                "\n\ndata is moved as it is; the other two results are its range, min_data and max_data, of shape (1,). " +
                (accepted.Has(kFloat32) ? "Any dtype." : "int8, uint8."))
      .set_inputs({"data", "min_data", "max_data"})
      .set_outputs({"output", "min_output", "max_output"})
      .set_infer_shape(ShapesOf(name, Fixed<1>))
      .set_infer_type(TypeOfData(accepted))
      .set_dtypes(accepted)
      .set_kernel([name](KernelArgs& a) { RunInRange(a, name, 1, 1); });
}

// ---- relu

void CheckRelu(const Attrs& attrs) {
  const RoleByParameters* role = Op::Get("Activation")->trait<RoleByParameters>();
  MXNET_CHECK_KIND(role->of(attrs) == Role::kRelu, Value)
      << Named(attrs) << "act_type '" << attrs.dict.at("act_type") << "'; accepted for 8-bit integers: relu";
}

bool ReluShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  CheckRelu(attrs);
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  RangeShapes(attrs, in, 1, out);
  return (*in)[0].known();
}

void ReluKernel(KernelArgs& args) {
  const TBlob &x = args.in[0], &out = args.out[0];
  Ran("vector loop");
  if (Wanted(args, 0))
    ParallelFor(x.Size(), 65536, [&](int64_t b, int64_t e) {
      const int8_t* from = static_cast<const int8_t*>(x.dptr);
      int8_t* to = static_cast<int8_t*>(out.dptr);
      if (x.dtype == kUint8)
        std::memcpy(to + b, from + b, static_cast<size_t>(e - b));
      else
        MXNET_CPU_CALL(PositiveBytes)(from + b, e - b, to + b);
    });
  StoreRange(args, *args.in[1].data<float>(), *args.in[2].data<float>());
}

// ---- rows

bool EmbeddingType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  RangeTypes(attrs, in, 2, out);
  AssignType(attrs, "weight", &(*in)[1], kInt8);
  AssignType(attrs, "output", &(*out)[0], kInt8);
  if ((*in)[0] == kDTypeUnknown) (*in)[0] = kFloat32;
  return true;
}

// ---- side by side

int Arrays(const Attrs& attrs) { return attrs.get<ConcatParam>().num_args; }

std::vector<std::string> ConcatInputs(const Attrs& attrs) {
  std::vector<std::string> names;
  for (int i = 0; i < Arrays(attrs); ++i) names.push_back("arg" + std::to_string(i));
  for (int i = 0; i < Arrays(attrs); ++i)
    for (const char* end : {"_min", "_max"}) names.push_back("arg" + std::to_string(i) + end);
  return names;
}

bool ConcatType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const int n = Arrays(attrs);
  const std::vector<std::string> names = attrs.op->ListInputs(attrs);
  for (int i = 0; i < n; ++i) CheckBytes(attrs, names[i].c_str(), (*in)[i]);
  RangeTypes(attrs, in, n, out);
  AssignType(attrs, "output", &(*out)[0], CommonBytes(*in, n));
  return std::count(in->begin(), in->begin() + n, static_cast<int>(kDTypeUnknown)) == 0;
}

/* Where an array stands among rows that are `pitch` bytes apart. */
struct PlaceInRows {
  int8_t* to;
  int64_t rows, width, pitch;
};

/* The array in another range. */
void Rescale(KernelArgs& args, const TBlob& part, float scale, ByteLimits limits, const PlaceInRows& place) {
  constexpr int64_t kShort = 64, kLong = 4096;
  const int64_t width = place.width;
  const auto rescale = [&](int64_t row, int64_t at, int64_t n) {
    MXNET_CPU_CALL(BytesToBytes)
    (part.data<char>() + row * width + at, part.dtype == kUint8, scale, 0, limits, n, place.to + row * place.pitch + at);
  };
  if (width < kShort && place.rows > 1) {  // a call for each row would cost more than a second pass
    const PlaceInRows whole{nn::Workspace<int8_t>(args, part.Size()), 1, part.Size(), part.Size()};
    Rescale(args, part, scale, limits, whole);
    return CopyRows(args.run, whole.to, width, place.to, place.pitch, width, place.rows);
  }
  if (width >= kLong) {
    for (int64_t row = 0; row < place.rows; ++row) ParallelFor(width, 65536, [&](int64_t b, int64_t e) { rescale(row, b, e - b); });
    return;
  }
  ParallelFor(place.rows, std::max<int64_t>(1, 65536 / std::max<int64_t>(1, width)), [&](int64_t b, int64_t e) {
    for (int64_t row = b; row < e; ++row) rescale(row, 0, width);
  });
}

void ConcatKernel(KernelArgs& args) {
  const int n = Arrays(*args.attrs);
  const TBlob& out = args.out[0];
  float low = *args.in[n].data<float>(), high = *args.in[n + 1].data<float>();
  for (int i = 1; i < n; ++i) {
    low = std::min(low, *args.in[n + 2 * i].data<float>());
    high = std::max(high, *args.in[n + 2 * i + 1].data<float>());
  }
  StoreRange(args, low, high);
  if (!Wanted(args, 0) || out.Size() == 0) return;
  Ran("vector loop");
  const float steps = StepsOf(Levels(out.dtype), LargestOf(low, high));
  const int axis = CheckedAxis(*args.attrs, args.param<ConcatParam>().dim, out.shape.ndim());
  const RowsAlongAxis extents(out, axis);
  int8_t* to = static_cast<int8_t*>(out.dptr);
  for (int i = 0; i < n; ++i) {
    const TBlob& part = args.in[i];
    const PlaceInRows place{to, extents.rows, part.shape[axis] * extents.inner, out.shape[axis] * extents.inner};
    const float largest = LargestIn(args.in[n + 2 * i], args.in[n + 2 * i + 1]);
    if (part.dtype == out.dtype && largest == LargestOf(low, high))
      CopyRows(args.run, part.dptr, place.width, place.to, place.pitch, place.width, place.rows);
    else
      Rescale(args, part, largest / Levels(part.dtype) * steps, LimitsOf(out.dtype), place);
    to += place.width;
  }
}

[[maybe_unused]] const bool registered = [] {
  MoveRecord("_contrib_quantized_flatten", "Flatten", "Flatten of 8-bit integers: a matrix with one row per entry of the first dimension.",
             dtypes::kAll)
      .set_inplace({{0, 0}})
      .alias("_npx_quantized_flatten");
  MoveRecord("_contrib_quantized_reshape", "Reshape", "Reshape of 8-bit integers.").set_inplace({{0, 0}}).alias("quantized_reshape");
  MoveRecord("_npx_quantized_reshape", "_npx_reshape", "npx.reshape of 8-bit integers.").set_inplace({{0, 0}});
  MoveRecord("_contrib_quantized_transpose", "transpose", "transpose of 8-bit integers.").alias("quantized_transpose");
  MoveRecord("_npx_quantized_transpose", "transpose", "transpose of 8-bit integers.");
  Op::Register("_contrib_quantized_act")
      .describe(
          "Activation of 8-bit integers: relu, the larger of data and 0.\n\n"
          "data has any shape, and so has the first result, of the same dtype. The other two are the range of data, min_data and max_data, "
          "of shape (1,). Other values of act_type are refused. int8, uint8.")
      .alias("_npx_quantized_act")
      .set_inputs({"data", "min_data", "max_data"})
      .set_outputs({"output", "min_output", "max_output"})
      .set_infer_shape(ReluShape)
      .set_infer_type(TypeOfData(dtypes::kBytes))
      .set_dtypes(dtypes::kBytes)
      .set_layout(LayoutRule::kChannelsLast)
      .set_trait(graph_ops::ByteImages{})
      .set_trait(graph_ops::RangesStay{})
      .set_kernel([](KernelArgs& a) { OnHost(a, ReluKernel); });
  Op::Register("_contrib_quantized_embedding")
      .describe(
          "Rows of an int8 weight (input_dim, output_dim) chosen by the integers in data; the output has data's shape followed by "
          "output_dim.\n\n"
          "Indices below 0 or beyond the last row are cut to the nearest row. The other two results are the range of the weight, "
          "min_weight "
          "and max_weight, of shape (1,). data may have any dtype; the output is int8, whatever `dtype` says.")
      .alias("_npx_quantized_embedding")
      .set_inputs({"data", "weight", "min_weight", "max_weight"})
      .set_dtypes(dtypes::kAll)
      .set_outputs({"output", "min_output", "max_output"})
      .set_infer_shape(ShapesOf("Embedding", Fixed<2>))
      .set_infer_type(EmbeddingType)
      .set_kernel([](KernelArgs& a) { RunInRange(a, "Embedding", 2, 2); });
  Op::Register("_contrib_quantized_concat")
      .describe(
          "Concat of 8-bit integers: puts arrays together along one dimension, in the range that holds all of theirs.\n\n"
          "num_args arrays are followed by the ends of their ranges, of shape (1,): the least and the greatest number of the first, then "
          "of "
          "the second, and so on. Arrays of another range, and uint8 beside int8, are scaled, rounded to the nearest (ties to even). The "
          "output is uint8 where all arrays are, else int8. The other two results are its range, of shape (1,). int8, uint8.")
      .set_param<ConcatParam>()
      .set_variadic("data", [](const Attrs& a) { return 3 * Arrays(a); })
      .set_list_inputs(ConcatInputs)
      .set_outputs({"output", "min_output", "max_output"})
      .set_infer_shape(ShapesOf("Concat", Arrays))
      .set_infer_type(ConcatType)
      .set_dtypes(dtypes::kBytes)
      .set_layout(LayoutRule::kChannelsLast)
      .set_trait(graph_ops::ByteImages{})
      .set_trait(graph_ops::RangesStay{})
      .set_kernel([](KernelArgs& a) { OnHost(a, ConcatKernel); });
  return true;
}();

}  // namespace
}  // namespace quantized
}  // namespace mxnet
