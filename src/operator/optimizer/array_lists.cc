// Operators over lists of arrays that optimizers and loss scaling need: are all numbers finite,
// squared norms, LARS rates, reset.
#include "operator/optimizer/array_lists.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/init/fill.h"
#include "operator/matrix/move.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/reduce/reduce.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

struct AllFiniteParam : public Parameter<AllFiniteParam> {
  bool init_output;
  MXNET_DECLARE_PARAM(AllFiniteParam) {
    MXNET_FIELD(init_output).set_default(true).describe("False: a result that already is 0 stays 0, so that several calls accumulate.");
  }
};

struct MultiAllFiniteParam : public Parameter<MultiAllFiniteParam> {
  int num_arrays;
  bool init_output;
  MXNET_DECLARE_PARAM(MultiAllFiniteParam) {
    MXNET_FIELD(num_arrays).set_default(1).describe("Number of arrays.");
    MXNET_FIELD(init_output).set_default(true).describe("False: a result that already is 0 stays 0, so that several calls accumulate.");
  }
};

struct NumArraysParam : public Parameter<NumArraysParam> {
  int num_arrays;
  MXNET_DECLARE_PARAM(NumArraysParam) { MXNET_FIELD(num_arrays).describe("Number of arrays."); }
};

struct LarsParam : public Parameter<LarsParam> {
  float eta, eps, rescale_grad;
  MXNET_DECLARE_PARAM(LarsParam) {
    MXNET_FIELD(eta).describe("LARS coefficient: the trusted ratio of step and weight.");
    MXNET_FIELD(eps).describe("Added to the divisor.");
    MXNET_FIELD(rescale_grad).set_default(1.0f).describe("Factor on the gradients.");
  }
};

MXNET_REGISTER_PARAM(AllFiniteParam);
MXNET_REGISTER_PARAM(MultiAllFiniteParam);
MXNET_REGISTER_PARAM(NumArraysParam);
MXNET_REGISTER_PARAM(LarsParam);

template <typename P>
int Count(const Attrs& a) {
  const int n = a.get<P>().num_arrays;
  MXNET_CHECK_KIND(n >= 1, Value) << "[" << a.op->name << "] num_arrays is " << n << "; accepted: 1 or more";
  return n;
}

template <typename P>
std::vector<std::string> Names(const Attrs& a) {
  std::vector<std::string> names;
  for (int i = 0; i < Count<P>(a); ++i) names.push_back("array_" + std::to_string(i));
  return names;
}

template <typename P>
std::vector<int> EveryInput(const Attrs& a) {
  std::vector<int> all;
  for (int i = 0; i < Count<P>(a); ++i) all.push_back(i);
  return all;
}

bool AllKnown(const ShapeVector& shapes) {
  for (const Shape& s : shapes)
    if (!s.known()) return false;
  return true;
}

bool OneNumberShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], Shape{1});
  return AllKnown(*in);
}

/* The output is float32; the inputs are floating, each by itself. As in 1.x, integers of one type
 * pass here too, and a call refuses them (set_dtypes). */
bool SingleOutType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const bool alike = std::all_of(in->begin(), in->end(), [&](int t) { return t == (*in)[0]; });
  for (size_t i = 0; i < in->size(); ++i)
    MXNET_CHECK_KIND((*in)[i] == kDTypeUnknown || IsFloating((*in)[i]) || alike, Type)
        << "[" << attrs.op->name << "] input " << i << " is " << DTypeName((*in)[i]) << "; accepted: float32, float64, float16, bfloat16";
  AssignType(attrs, "output", &(*out)[0], kFloat32);
  for (int t : *in)
    if (t == kDTypeUnknown) return false;
  return true;
}

template <typename P>
void FiniteKernel(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  if (a.run.ctx.is_gpu()) {
    if (a.param<P>().init_output) FillValue(a.run, a.out[0], 1);
    for (const TBlob& array : a.in) {
      rtc::Arguments args;
      args.Add(array.dptr).Add(a.out[0].dptr);
      rtc::LaunchItems(a.run, {"operator/optimizer/gpu_update.cuh", "all_finite", {array.dtype}}, array.Size(), &args);
    }
    return;
  }
  float* result = a.out[0].data<float>();
  if (a.param<P>().init_output) *result = 1;
  if (*result != 0 && !std::all_of(a.in.begin(), a.in.end(), AllFinite)) *result = 0;
}

void SumSqKernel(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  for (int k = 0; k < a.in.size(); ++k) {
    if (a.run.ctx.is_gpu()) {
      TBlob sum = a.out[0];
      sum.dptr = a.out[0].data<float>() + k;
      sum.shape = Shape{1};
      reduce::Reduce(a, reduce::kSumSquare, a.in[k], std::vector<char>(a.in[k].shape.ndim(), 1), reduce::Finish(), false, sum,
                     OpReq::kWrite);
      continue;
    }
    a.out[0].data<float>()[k] = static_cast<float>(SumOfSquares(a.in[k]));
  }
}

bool SumSqShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], Shape{Count<NumArraysParam>(attrs)});
  return AllKnown(*in);
}

// Arrays whose dtype nobody says are like the others.
bool SumSqType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  int known = kDTypeUnknown;
  for (int t : *in) known = known == kDTypeUnknown ? t : known;
  for (int& t : *in) t = t == kDTypeUnknown ? known : t;
  return SingleOutType(attrs, in, out);
}

void LarsKernel(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  const LarsParam& p = a.param<LarsParam>();
  if (a.run.ctx.is_gpu()) {
    rtc::Arguments args;
    for (int k = 0; k < 4; ++k) args.Add(a.in[k].dptr);
    args.Add(a.out[0].dptr).Add(static_cast<double>(p.eta)).Add(static_cast<double>(p.eps)).Add(static_cast<double>(p.rescale_grad));
    return rtc::LaunchItems(a.run, {"operator/optimizer/gpu_update.cuh", "multi_lars", {a.in[0].dtype}}, a.in[0].Size(), &args);
  }
  LarsRates(a.in[0], a.in[1], a.in[2], a.in[3], p.eta, p.eps, p.rescale_grad, a.out[0]);
}

void ResetKernel(KernelArgs& a) {
  for (const TBlob& array : a.in) {
    if (a.run.ctx.is_gpu()) {
      ZeroBytes(a.run, array.dptr, static_cast<int64_t>(array.Bytes()));
      continue;
    }
    char* p = array.data<char>();
    ParallelFor(static_cast<int64_t>(array.Bytes()), 1 << 20, [p](int64_t begin, int64_t end) { std::memset(p + begin, 0, end - begin); });
  }
}

MXNET_REGISTER_OP(all_finite)
    .alias("_npi_all_finite")
    .describe("1 when every number of `data` is finite, else 0, as a float32 array of one element.")
    .set_param<AllFiniteParam>()
    .set_inputs({"data"})
    .set_infer_shape(OneNumberShape)
    .set_infer_type(SingleOutType)
    .set_dtypes(dtypes::kFloats)
    .set_kernel(FiniteKernel<AllFiniteParam>);

MXNET_REGISTER_OP(multi_all_finite)
    .alias("_npi_multi_all_finite")
    .describe("1 when every number of every array is finite, else 0, as a float32 array of one element.")
    .set_param<MultiAllFiniteParam>()
    .set_inputs({"data"}, Count<MultiAllFiniteParam>)
    .set_list_inputs(Names<MultiAllFiniteParam>)
    .set_infer_shape(OneNumberShape)
    .set_infer_type(SingleOutType)
    .set_dtypes(dtypes::kFloats)
    .set_kernel(FiniteKernel<MultiAllFiniteParam>);

MXNET_REGISTER_OP(multi_sum_sq)
    .describe("Sum of the squares of each array, as one float32 array of num_arrays numbers.")
    .set_param<NumArraysParam>()
    .set_inputs({"data"}, Count<NumArraysParam>)
    .set_list_inputs(Names<NumArraysParam>)
    .set_infer_shape(SumSqShape)
    .set_infer_type(SumSqType)
    .set_dtypes(dtypes::kFloats)
    .set_kernel(SumSqKernel);

MXNET_REGISTER_OP(multi_lars)
    .describe(
        "Learning rates by layer-wise adaptive rate scaling (You et al. 2017, arXiv:1708.03888): lr * eta*|w| / (|g| + wd*|w| + eps), with "
        "|w| and "
        "|g| from sums of squares and |g| rescaled; lr itself where either norm is 0. All arrays have one element per layer.")
    .set_param<LarsParam>()
    .set_inputs({"lrs", "weights_sum_sq", "grads_sum_sq", "wds"})
    .set_infer_shape(ElemwiseShape)
    .set_inplace({{0, 0}})
    .set_dtypes(dtypes::kFloats)
    .set_kernel(LarsKernel);

MXNET_REGISTER_OP(reset_arrays)
    .describe("Fills every array with zeros, in place. There is no result.")
    .set_param<NumArraysParam>()
    .set_inputs({"data"}, Count<NumArraysParam>)
    .set_dtypes(dtypes::kAll)
    .set_list_inputs(Names<NumArraysParam>)
    .set_outputs({})
    .set_mutate_inputs(EveryInput<NumArraysParam>)
    .set_infer_shape([](const Attrs&, ShapeVector* in, ShapeVector*) { return AllKnown(*in); })
    .set_infer_type([](const Attrs&, std::vector<int>* in, std::vector<int>*) {
      for (int t : *in)
        if (t == kDTypeUnknown) return false;
      return true;
    })
    .set_kernel(ResetKernel);

}  // namespace
}  // namespace mxnet
