// Categorical draws from rows of probabilities, and random permutation of rows.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/dtype.h"
#include "mxnet/op.h"
#include "operator/indexing/gpu_order.h"
#include "operator/indexing/index.h"
#include "operator/matrix/move.h"
#include "operator/random/distributions.h"
#include "operator/random/gpu_random.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/reduce/gpu_scan.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

struct MultinomialParam : public Parameter<MultinomialParam> {
  Shape shape;
  bool get_prob;
  int dtype;
  MXNET_DECLARE_PARAM(MultinomialParam) {
    MXNET_FIELD(shape).set_default(Shape()).describe("shape of the draws of each row");
    MXNET_FIELD(get_prob).set_default(false).describe("also return the logarithm of each draw's probability");
    MXNET_DTYPE_FIELD_OF(dtype, dtypes::kIeeeFloats | dtypes::Set{kUint8, kInt32})
        .set_default(kInt32)
        .describe("dtype of the drawn indices");
  }
};
MXNET_REGISTER_PARAM(MultinomialParam);

bool MultinomialShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& data = (*in)[0];
  if (!data.known()) return false;
  MXNET_CHECK_KIND(data.ndim() >= 1 && data[data.ndim() - 1] > 0, Value)
      << "[" << attrs.op->name << "] data has shape " << data << "; accepted: at least one dimension, the last one not empty";
  std::vector<int64_t> dims(data.begin(), data.end() - 1);
  const Shape& extra = attrs.get<MultinomialParam>().shape;
  if (extra.ndim() > 0) dims.insert(dims.end(), extra.begin(), extra.end());
  if (dims.empty()) dims.push_back(1);
  for (auto& s : *out) AssignShape(attrs, "output", &s, Shape(dims));
  return true;
}

bool MultinomialType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], attrs.get<MultinomialParam>().dtype);
  if (out->size() > 1) AssignType(attrs, "probability", &(*out)[1], (*in)[0]);
  return (*in)[0] != kDTypeUnknown;
}

void MultinomialOnDevice(KernelArgs& args, int64_t classes, int64_t rows, int64_t draws, const DeviceDraws& counters) {
  const TBlob &data = args.in[0], &out = args.out[0];
  TBlob cumulative = data;
  cumulative.dtype = kFloat64;
  cumulative.dptr = args.workspace(std::max<size_t>(cumulative.Bytes(), 1));
  reduce::DeviceScan scan;
  scan.outer = rows, scan.length = classes;
  reduce::ScanOnDevice(args, scan, data, cumulative);
  rtc::Arguments a;
  a.Add(data.dptr).Add(cumulative.dptr).Add(out.dptr).Add(args.out.size() > 1 ? args.out[1].dptr : nullptr).Add(classes).Add(draws);
  counters.AddTo(&a);
  rtc::LaunchItems(args.run, {"operator/random/gpu_random.cuh", "multinomial", {data.dtype, out.dtype}}, out.Size(), &a);
}

void MultinomialBackwardOnDevice(KernelArgs& args, int64_t classes, int64_t rows, int64_t draws) {
  const TBlob& out = args.out[0];
  ZeroBytes(args.run, out.dptr, static_cast<int64_t>(out.Bytes()));
  rtc::Arguments a;
  a.Add(args.in[0].dptr).Add(args.in[1].dptr).Add(args.in[2].dptr).Add(out.dptr).Add(classes).Add(draws);
  rtc::LaunchItems(args.run,
                   {"operator/random/gpu_random.cuh", "multinomial_backward", {args.in[0].dtype, args.in[1].dtype, args.in[2].dtype}}, rows,
                   &a);
}

void Multinomial(KernelArgs& args) {
  const TBlob& data = args.in[0];
  const int64_t classes = data.shape[data.shape.ndim() - 1], rows = classes ? data.Size() / classes : 0, n = args.out[0].Size(),
                draws = rows ? n / rows : 0;
  if (args.run.ctx.is_gpu())
    return MultinomialOnDevice(args, classes, rows, draws, DrawsOnDevice(args.run, args.random, static_cast<uint64_t>(n)));
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>(n));
  std::vector<double> cumulative(static_cast<size_t>(classes));
  VisitFloating(data.dtype, args.attrs->op->name.c_str(), [&](auto tag) {
    using P = decltype(tag);
    VisitDType(args.out[0].dtype, args.attrs->op->name.c_str(), [&](auto out_tag) {
      using T = decltype(out_tag);
      for (int64_t r = 0; r < rows; ++r) {
        const P* p = data.data<P>() + r * classes;
        double sum = 0;
        for (int64_t c = 0; c < classes; ++c) cumulative[c] = sum += static_cast<double>(p[c]);
        for (int64_t d = 0; d < draws; ++d) {
          RandomStream s(seed, first + static_cast<uint64_t>(r * draws + d));
          const double u = s.Uniform() * sum;
          int64_t c = std::upper_bound(cumulative.begin(), cumulative.end(), u) - cumulative.begin();
          c = std::min(c, classes - 1);
          args.out[0].data<T>()[r * draws + d] = static_cast<T>(c);
          if (args.out.size() > 1) args.out[1].data<P>()[r * draws + d] = static_cast<P>(std::log(static_cast<double>(p[c])));
        }
      }
    });
  });
}

/* d log p[c] / d p: 1/p[c] at what was drawn. Inputs: gradient of the logarithms, data, drawn
 * indices. */
void MultinomialBackward(KernelArgs& args) {
  const TBlob &ograd = args.in[0], &data = args.in[1], &drawn = args.in[2], &out = args.out[0];
  const int64_t classes = data.shape[data.shape.ndim() - 1], n = drawn.Size(), rows = classes ? data.Size() / classes : 0,
                draws = rows ? n / rows : 0;
  if (args.run.ctx.is_gpu()) return MultinomialBackwardOnDevice(args, classes, rows, draws);
  VisitFloating(data.dtype, "_backward_sample_multinomial", [&](auto tag) {
    using P = decltype(tag);
    VisitDType(drawn.dtype, "_backward_sample_multinomial", [&](auto in_tag) {
      using T = decltype(in_tag);
      std::memset(out.dptr, 0, out.Bytes());
      for (int64_t i = 0; i < n; ++i) {
        const int64_t c = static_cast<int64_t>(drawn.data<T>()[i]),
                      at = i / draws * classes + std::max<int64_t>(0, std::min(c, classes - 1));
        out.data<P>()[at] = static_cast<P>(static_cast<float>(out.data<P>()[at]) +
                                           static_cast<float>(ograd.data<P>()[i]) / static_cast<float>(data.data<P>()[at]));
      }
    });
  });
}

/* `name` and its gradient. */
void RegisterClasses(const std::string& name, const std::vector<std::string>& aliases) {
  const std::string back = "_backward" + name;
  Op& op = Op::Register(name)
               .describe(
                   "Draws class numbers with the probabilities in the last axis of `data`, which are divided by their sum.\n\n"
                   "The result has the other axes of `data`, then `shape`. With `get_prob` there is a second result, the logarithms of the "
                   "probabilities of what was drawn, through which gradients flow (for REINFORCE).")
               .set_param<MultinomialParam>()
               .set_inputs({"data"})
               .set_outputs({"output"}, [](const Attrs& a) { return a.get<MultinomialParam>().get_prob ? 2 : 1; })
               .set_infer_shape(MultinomialShape)
               .set_infer_type(MultinomialType)
               .set_gradient([back](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
                 if (ograds.size() < 2) return NoGradient(node, ograds);
                 return std::vector<NodeEntry>{MakeOp(back, {ograds[1], node->inputs[0], NodeEntry{node, 0, 0}})};
               })
               .set_uses_random()
               .set_dtypes(dtypes::kIeeeFloats)
               .set_kernel(Multinomial);
  for (const std::string& alias : aliases) op.alias(alias);
  Op::Register(back)
      .set_inputs({"ograd", "data", "drawn"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape([](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
        AssignShape(attrs, "output", &(*out)[0], (*in)[1]);
        return (*in)[1].known();
      })
      .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
        AssignType(attrs, "output", &(*out)[0], (*in)[1]);
        return (*in)[1] != kDTypeUnknown;
      })
      .set_kernel(MultinomialBackward);
}

[[maybe_unused]] const bool registered = [] {
  RegisterClasses("_sample_multinomial", {"sample_multinomial"});
  RegisterClasses("_sample_categorical", {"sample_categorical", "_npx__random_categorical"});  // the name in 2.0
  return true;
}();

/* Rows in the order of random numbers: another permutation than on the CPU, whose swaps go one
 * after the other. */
void ShuffleOnDevice(KernelArgs& args, int64_t rows) {
  const TBlob& data = args.in[0];
  TBlob keys;
  keys.dtype = kUint64;
  keys.shape = Shape{rows};
  keys.dptr = args.workspace(std::max<size_t>(keys.Bytes(), 1));
  int64_t* order = static_cast<int64_t*>(args.workspace(std::max<size_t>(keys.Bytes(), 1)));
  rtc::Arguments a;
  DrawsOnDevice(args.run, args.random, static_cast<uint64_t>(rows)).AddTo(&a.Add(keys.dptr));
  rtc::LaunchItems(args.run, {"operator/random/gpu_random.cuh", "shuffle_keys"}, rows, &a);
  OrderEntriesOnDevice(args, keys, 1, rows, 1, rows, true, nullptr, order);
  TakeRows(args.run, data, 1, rows, rows ? data.Size() / rows : 0, order, rows, args.out[0].dptr);
}

/* Fisher and Yates, one stream: rows keep their contents. */
void Shuffle(KernelArgs& args) {
  const TBlob &data = args.in[0], &out = args.out[0];
  const int64_t rows = data.shape.ndim() > 0 ? data.shape[0] : 1;
  if (args.run.ctx.is_gpu()) return ShuffleOnDevice(args, rows);
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  RandomStream s(args.random->seed(), args.random->Take(1));
  // The partners of some rows are drawn first, so that the memory of all of them is on its way.
  constexpr int64_t kAhead = 32;
  int64_t partner[kAhead];
  for (int64_t i = rows - 1; i > 0;) {
    const int64_t n = std::min(kAhead, i);
    for (int64_t k = 0; k < n; ++k) {
      const uint64_t high = s.Word(), word = high << 32 | s.Word();
      partner[k] = static_cast<int64_t>((static_cast<unsigned __int128>(word) * static_cast<uint64_t>(i - k + 1)) >> 64);
      __builtin_prefetch(&order[static_cast<size_t>(partner[k])], 1);
    }
    for (int64_t k = 0; k < n; ++k, --i) std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(partner[k])]);
  }
  TakeRows(args.run, data, 1, rows, rows ? data.Size() / rows : 0, order.data(), rows, out.dptr);
}

MXNET_REGISTER_OP(_shuffle)
    .describe("Rows of `data` in random order.")
    .alias("shuffle")
    .alias("_npi_shuffle")
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ElemwiseShape)
    .set_infer_type(SameType)
    .set_uses_random()
    .set_zero_gradient()
    .set_kernel(Shuffle);

}  // namespace
}  // namespace mxnet
