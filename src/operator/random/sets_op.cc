// Draws that are several numbers: how often each class occurs in n trials, and different classes.
#include <algorithm>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/random/distributions.h"
#include "operator/random/gpu_random.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

struct CountsParam : public Parameter<CountsParam> {
  Shape shape;
  std::string ctx;
  int dtype;
  MXNET_DECLARE_PARAM(CountsParam) {
    MXNET_FIELD(shape).set_default(Shape()).describe("Shape of the draws for each number of trials.");
    MXNET_FIELD(ctx).set_default("").describe("Not used: the result is where the arrays are.");
    MXNET_DTYPE_FIELD_OF(dtype, dtypes::kIeeeFloats | dtypes::Set{kUint8, kInt32}).set_default(kInt32).describe("Type of the counts.");
  }
};

struct ZipfianParam : public Parameter<ZipfianParam> {
  int range_max;
  Shape shape;
  MXNET_DECLARE_PARAM(ZipfianParam) {
    MXNET_FIELD(range_max).describe("Number of classes.");
    MXNET_FIELD(shape).set_default_none().describe("Rows, and different classes in each.");
  }
};

MXNET_REGISTER_PARAM(CountsParam);
MXNET_REGISTER_PARAM(ZipfianParam);

// ---- counts

bool CountsShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &n = (*in)[0], &p = (*in)[1];
  if (!n.known() || !p.known()) return false;
  bool fit = p.ndim() == n.ndim() + 1 && p[p.ndim() - 1] > 0;
  for (int d = 0; fit && d < n.ndim(); ++d) fit = n[d] == p[d];
  MXNET_CHECK_KIND(fit, Value) << "[" << attrs.op->name << "] n has shape " << n << ", p has " << p
                               << "; accepted: a p of n's shape with a last dimension of at least one class";
  std::vector<int64_t> dims(n.begin(), n.end());
  const Shape& extra = attrs.get<CountsParam>().shape;
  if (extra.ndim_known()) dims.insert(dims.end(), extra.begin(), extra.end());
  dims.push_back(p[p.ndim() - 1]);
  AssignShape(attrs, "output", &(*out)[0], Shape(dims));
  return true;
}

bool CountsType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  MXNET_CHECK_KIND((*in)[1] == kDTypeUnknown || IsFloating((*in)[1]), Type)
      << "[" << attrs.op->name << "] p is " << DTypeName((*in)[1]) << "; accepted: float32, float64, float16, bfloat16";
  AssignType(attrs, "output", &(*out)[0], attrs.get<CountsParam>().dtype);
  return (*in)[0] != kDTypeUnknown && (*in)[1] != kDTypeUnknown;
}

void Counts(KernelArgs& args) {
  const TBlob &n = args.in[0], &p = args.in[1], &out = args.out[0];
  const int64_t classes = p.shape[p.shape.ndim() - 1], rows = n.Size(), draws = rows ? out.Size() / classes / rows : 0;
  const uint64_t count = static_cast<uint64_t>(rows * draws);
  if (args.run.ctx.is_gpu()) {
    rtc::Arguments a;
    DrawsOnDevice(args.run, args.random, count).AddTo(&a.Add(n.dptr).Add(p.dptr).Add(out.dptr).Add(classes).Add(draws));
    return rtc::LaunchItems(args.run, {"operator/random/gpu_random.cuh", "multinomial_counts", {n.dtype, p.dtype, out.dtype}}, rows * draws,
                            &a);
  }
  const uint64_t seed = args.random->seed(), first = args.random->Take(count);
  ParallelForThreads(OmpThreads(out.Size() * 16), rows, [&](int64_t begin, int64_t end) {
    std::vector<double> chances(static_cast<size_t>(classes)), drawn(static_cast<size_t>(classes));
    for (int64_t r = begin; r < end; ++r) {
      double trials = 0;
      ConvertElements(n.data<char>() + r * static_cast<int64_t>(DTypeSize(n.dtype)), n.dtype, &trials, kFloat64, 1);
      ConvertElements(p.data<char>() + r * classes * static_cast<int64_t>(DTypeSize(p.dtype)), p.dtype, chances.data(), kFloat64, classes);
      for (int64_t d = r * draws; d < (r + 1) * draws; ++d) {
        RandomStream s(seed, first + static_cast<uint64_t>(d));
        DrawCounts(
            &s, trials, classes, [&](long long c) { return chances[c]; }, [&](long long c, double k) { drawn[c] = k; });
        ConvertElements(drawn.data(), kFloat64, out.data<char>() + d * classes * static_cast<int64_t>(DTypeSize(out.dtype)), out.dtype,
                        classes);
      }
    }
  });
}

MXNET_REGISTER_OP(_npx__random_multinomial)
    .describe(
        "How often each class occurs in n independent trials.\n\n"
        "`p` has the shape of `n` and a last dimension with the probabilities of the classes, which are divided by their sum. The result "
        "has the shape of `n`, then `shape`, then the classes; its counts add up to n. They are 0 where n or a probability is negative or "
        "NaN.")
    .set_param<CountsParam>()
    .set_inputs({"n", "p"})
    .set_infer_shape(CountsShape)
    .set_infer_type(CountsType)
    .set_dtypes(dtypes::kFloats | dtypes::Set{kInt32, kInt64})
    .set_uses_random()
    .set_zero_gradient()
    .set_kernel(Counts);

// ---- different classes

bool ZipfianShape(const Attrs& attrs, ShapeVector*, ShapeVector* out) {
  const auto& p = attrs.get<ZipfianParam>();
  MXNET_CHECK_KIND(p.shape.ndim_known() && p.shape.ndim() == 2 && p.shape.known(), Value)
      << "[" << attrs.op->name << "] shape is " << p.shape << "; accepted: two dimensions, rows and classes of each";
  MXNET_CHECK_KIND(p.range_max >= 1 && p.shape[1] <= p.range_max, Value)
      << "[" << attrs.op->name << "] range_max=" << p.range_max << " for " << p.shape[1]
      << " different classes of a row; accepted: at least 1, and as many as classes of a row";
  AssignShape(attrs, "samples", &(*out)[0], p.shape);
  AssignShape(attrs, "num_tries", &(*out)[1], Shape{p.shape[0]});
  return true;
}

void Zipfian(KernelArgs& args) {
  const auto& p = args.param<ZipfianParam>();
  const int64_t rows = p.shape[0], n = p.shape[1], range = p.range_max;
  const bool rejects = n <= range / 4;  // a draw is new with a chance that does not get small
  int64_t size = 2 * (range + 1);
  if (rejects)
    for (size = 2; size < 2 * n;) size *= 2;
  long long* const tries = args.out[1].data<long long>();
  if (args.run.ctx.is_gpu()) {
    void* const scratch = args.workspace(std::max<size_t>(static_cast<size_t>(rows * size) * 8, 1));
    rtc::Arguments a;
    a.Add(args.out[0].dptr).Add(tries).Add(scratch).Add(range).Add(n).Add(size);
    DrawsOnDevice(args.run, args.random, static_cast<uint64_t>(rows)).AddTo(&a);
    return rtc::LaunchItems(args.run, {"operator/random/gpu_random.cuh", "unique_zipfian", {}, {rejects}}, rows, &a);
  }
  const uint64_t seed = args.random->seed(), first = args.random->Take(static_cast<uint64_t>(rows));
  ParallelForThreads(OmpThreads(rows * size * 16), rows, [&](int64_t begin, int64_t end) {
    std::vector<long long> table(static_cast<size_t>(size));
    std::vector<double> tree(static_cast<size_t>(rejects ? 0 : range + 1));
    for (int64_t r = begin; r < end; ++r) {
      RandomStream s(seed, first + static_cast<uint64_t>(r));
      long long* const out = args.out[0].data<long long>() + r * n;
      tries[r] = rejects ? ZipfianByRejection(&s, range, n, size, table.data(), out)
                         : ZipfianOfTheRest(&s, range, n, tree.data(), table.data(), out);
    }
  });
}

MXNET_REGISTER_OP(_sample_unique_zipfian)
    .describe(
        "Different classes, drawn one after the other with probabilities that fall about as 1/(c+1).\n\n"
        "Class c of 0, ..., range_max - 1 has the probability log((c + 2) / (c + 1)) / log(range_max + 1); classes that a row already has "
        "are drawn again. The results are int64: the classes, of shape `shape`, in the order in which they were drawn, and for each row "
        "the number of draws that it took, from which expected counts are computed.")
    .set_param<ZipfianParam>()
    .set_inputs({})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"output0", "output1"})
    .set_infer_shape(ZipfianShape)
    .set_infer_type([](const Attrs& attrs, std::vector<int>*, std::vector<int>* out) {
      for (int& type : *out) AssignType(attrs, "output", &type, kInt64);
      return true;
    })
    .set_uses_random()
    .set_zero_gradient()
    .set_kernel(Zipfian);

}  // namespace
}  // namespace mxnet
