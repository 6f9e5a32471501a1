// Attention within a sliding window (Beltagy, Peters and Cohan, Longformer, 2020): scores of each
// step with its neighbours, a mask of the neighbours that there are, and the weighted sum of their
// values.
//
// Neighbour j of step i, of a head with dilation d, is step i + (j - w) * d. Arrays are (batch,
// steps, heads, size) and (batch, steps, heads, window).
#include <algorithm>

#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {

struct WindowParam : public Parameter<WindowParam> {
  int w;
  bool symmetric;
  MXNET_DECLARE_PARAM(WindowParam) {
    MXNET_FIELD(w).set_lower_bound(0).describe("How many neighbours on one side.");
    MXNET_FIELD(symmetric).describe("Whether the window has as many behind the step; else it ends with the step itself.");
  }
};
MXNET_REGISTER_PARAM(WindowParam);

namespace {

constexpr const char* kKernels = "operator/nn/attention/window_attention.cuh";

int64_t WidthOf(const Attrs& attrs) {
  const auto& p = attrs.get<WindowParam>();
  return (p.symmetric ? 2 : 1) * static_cast<int64_t>(p.w) + 1;
}

// ---- inference

bool CheckDims(const Attrs& attrs, const char* name, const Shape& s) {
  if (!s.ndim_known()) return false;
  MXNET_CHECK_KIND(s.ndim() == 4, Value) << Named(attrs) << name << " has shape " << s << "; 4 dimensions are needed: batch, steps, heads, "
                                         << "and size or window";
  return s.known();
}

Shape WithLast(const Shape& s, int64_t last) { return Shape({s[0], s[1], s[2], last}); }

void AssignDilation(const Attrs& attrs, Shape* dilation, const Shape& like) { AssignShape(attrs, "dilation", dilation, Shape({like[2]})); }

bool ScoreShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "key", &(*in)[1], (*in)[0]);
  AssignShape(attrs, "query", &(*in)[0], (*in)[1]);
  if (!CheckDims(attrs, "query", (*in)[0])) return false;
  AssignDilation(attrs, &(*in)[2], (*in)[0]);
  AssignShape(attrs, "output", &(*out)[0], WithLast((*in)[0], WidthOf(attrs)));
  return true;
}

bool MaskShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "score", &(*in)[0], (*out)[0]);
  const Shape& score = (*in)[0];
  if (!CheckDims(attrs, "score", score)) return false;
  AssignShape(attrs, "score", &(*in)[0], WithLast(score, WidthOf(attrs)));
  AssignDilation(attrs, &(*in)[1], score);
  AssignShape(attrs, "valid_length", &(*in)[2], Shape({score[0]}));
  return true;
}

// Of the context, and of its transpose: scores, what is summed, dilation.
bool ContextShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[1]);
  AssignShape(attrs, "value", &(*in)[1], (*out)[0]);
  if (!CheckDims(attrs, "value", (*in)[1])) return false;
  AssignShape(attrs, "score", &(*in)[0], WithLast((*in)[1], WidthOf(attrs)));
  AssignDilation(attrs, &(*in)[2], (*in)[1]);
  return true;
}

bool CheckDilation(const Attrs& attrs, int* dtype) {
  if (*dtype == kDTypeUnknown) *dtype = kInt32;
  MXNET_CHECK_KIND(!IsFloating(*dtype) && *dtype != kBool, Type)
      << Named(attrs) << "dilation is " << DTypeName(*dtype) << "; accepted: integers, such as int32";
  return true;
}

bool ProductType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (int* from : {&(*in)[0], &(*in)[1], &(*out)[0]}) {
    AssignType(attrs, "input 0", &(*in)[0], *from);
    AssignType(attrs, "input 1", &(*in)[1], *from);
    AssignType(attrs, "output", &(*out)[0], *from);
  }
  return CheckDilation(attrs, &(*in)[2]) && (*in)[0] != kDTypeUnknown;
}

bool MaskType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "score", &(*in)[0], (*out)[0]);
  if ((*in)[2] == kDTypeUnknown) (*in)[2] = kInt32;
  return CheckDilation(attrs, &(*in)[1]) && (*in)[0] != kDTypeUnknown;
}

// ---- CPU

struct Window {
  int64_t batch, steps, heads, size, width, w;
  const int64_t* dilation = nullptr;

  Window(const Attrs& attrs, const Shape& s, int64_t size_) : batch(s[0]), steps(s[1]), heads(s[2]), size(size_) {
    width = WidthOf(attrs);
    w = attrs.get<WindowParam>().w;
  }
  /* A dilation of `steps` leads out of the sequence, as larger ones do. */
  int64_t DilationOf(int64_t head) const { return std::max(-steps, std::min(steps, dilation[head])); }
  /* f(head, row of step and head, distance of window entries, neighbour's row at distance 0 is the
   * step's) for all steps. */
  template <typename F>
  void ForRows(const F& f) const {
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, heads * width * size));
    ParallelFor(batch * steps, grain, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at)
        for (int64_t h = 0; h < heads; ++h) f(at % steps, at * heads + h, DilationOf(h));
    });
  }
  bool Inside(int64_t step) const { return step >= 0 && step < steps; }
};

template <typename T>
void ScoreOnCpu(KernelArgs& args) {
  Window win(*args.attrs, args.out[0].shape, args.in[0].shape[3]);
  win.dilation = AsInt64(args, args.in[2]);
  const T *query = args.in[0].data<T>(), *key = args.in[1].data<T>();
  T* out = args.out[0].data<T>();
  win.ForRows([&](int64_t step, int64_t row, int64_t dilation) {
    const T* q = query + row * win.size;
    for (int64_t j = 0; j < win.width; ++j) {
      const int64_t by = (j - win.w) * dilation;
      T sum = 0;
      if (win.Inside(step + by)) {
        const T* k = key + (row + by * win.heads) * win.size;
#pragma omp simd reduction(+ : sum)
        for (int64_t c = 0; c < win.size; ++c) sum += q[c] * k[c];
      }
      out[row * win.width + j] = sum;
    }
  });
}

/* transposed: each step gathers from those whose neighbour it is, what its own neighbours get
 * otherwise. */
template <typename T>
void ContextOnCpu(KernelArgs& args, bool transposed) {
  Window win(*args.attrs, args.out[0].shape, args.out[0].shape[3]);
  win.dilation = AsInt64(args, args.in[2]);
  const T *score = args.in[0].data<T>(), *value = args.in[1].data<T>();
  T* out = args.out[0].data<T>();
  win.ForRows([&](int64_t step, int64_t row, int64_t dilation) {
    T* to = out + row * win.size;
    std::fill(to, to + win.size, T(0));
    for (int64_t j = 0; j < win.width; ++j) {
      const int64_t by = (j - win.w) * (transposed ? -dilation : dilation);
      if (!win.Inside(step + by)) continue;
      const int64_t other = row + by * win.heads;
      const T s = score[(transposed ? other : row) * win.width + j];
      const T* v = value + other * win.size;
#pragma omp simd
      for (int64_t c = 0; c < win.size; ++c) to[c] += s * v[c];
    }
  });
}

template <typename T>
void MaskOnCpu(KernelArgs& args) {
  Window win(*args.attrs, args.out[0].shape, 1);
  win.dilation = AsInt64(args, args.in[1]);
  const double* valid = AsDouble(args, args.in[2]);
  T* out = args.out[0].data<T>();
  win.ForRows([&](int64_t step, int64_t row, int64_t dilation) {
    const double limit = valid[row / (win.steps * win.heads)];
    for (int64_t j = 0; j < win.width; ++j) {
      const int64_t other = step + (j - win.w) * dilation;
      out[row * win.width + j] = T(win.Inside(other) && static_cast<double>(step) < limit && static_cast<double>(other) < limit);
    }
  });
}

// ---- both

/* `size`: of the last dimension of queries or values. */
void Launch(KernelArgs& args, const char* name, int64_t size, std::initializer_list<int> dtypes) {
  const Shape& s = args.out[0].shape;
  rtc::Arguments arguments;
  arguments.Add(args.out[0].dptr);
  for (const TBlob& b : args.in) arguments.Add(b.dptr);
  arguments.Add(s[1]).Add(s[2]).Add(size).Add(WidthOf(*args.attrs)).Add(static_cast<int64_t>(args.param<WindowParam>().w));
  rtc::LaunchItems(args.run, {kKernels, name, dtypes}, s.Size(), &arguments);
}

void Score(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return Launch(args, "window_score", args.in[0].shape[3], {args.in[0].dtype, args.in[2].dtype});
  RunReal(args, [](KernelArgs& a, auto number) { ScoreOnCpu<decltype(number)>(a); });
}

template <bool kTransposed>
void Context(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu())
    return Launch(args, kTransposed ? "window_context_transposed" : "window_context", args.out[0].shape[3],
                  {args.in[0].dtype, args.in[2].dtype});
  RunReal(args, [](KernelArgs& a, auto number) { ContextOnCpu<decltype(number)>(a, kTransposed); });
}

void MaskLike(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return Launch(args, "window_mask", 1, {args.in[0].dtype, args.in[1].dtype, args.in[2].dtype});
  RunReal(args, [](KernelArgs& a, auto number) { MaskOnCpu<decltype(number)>(a); });
}

// ---- records. Each of the three products is made of the others' when it is differentiated.

NodeEntry Product(const char* op, const NodePtr& node, const NodeEntry& a, const NodeEntry& b) {
  return {MakeNodeLike(op, *node, {a, b, node->inputs[2]}), 0, 0};
}
constexpr const char* kScore = "_contrib_sldwin_atten_score";
constexpr const char* kContext = "_contrib_sldwin_atten_context";
constexpr const char* kTransposedContext = "_backward_sldwin_atten_context";

MXNET_REGISTER_OP(_contrib_sldwin_atten_score)
    .alias("_npx_sldwin_atten_score")
    .describe(
        "Scores of attention within a sliding window (Beltagy, Peters and Cohan, Longformer, 2020): each step's query times "
        "the keys of its neighbours.\n\n"
        "query and key: (batch, steps, heads, size); dilation: (heads,), integers. Output: (batch, steps, heads, window), where the window "
        "has 2 * w + 1 neighbours, or w + 1 if it is not symmetric. Entry j belongs to step i + (j - w) * dilation; where there is no such "
        "step it is 0.")
    .set_param<WindowParam>()
    .set_inputs({"query", "key", "dilation"})
    .set_infer_shape(ScoreShape)
    .set_infer_type(ProductType)
    .set_dtypes(dtypes::kFloats)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{Product(kContext, node, ograds[0], node->inputs[1]),
                                    Product(kTransposedContext, node, ograds[0], node->inputs[0]), NodeEntry()};
    })
    .set_kernel(Score);

MXNET_REGISTER_OP(_contrib_sldwin_atten_context)
    .alias("_npx_sldwin_atten_context")
    .describe(
        "Results of attention within a sliding window: each step's weights times the values of its neighbours (see "
        "sldwin_atten_score).\n\n"
        "score: (batch, steps, heads, window), the weights; value: (batch, steps, heads, size); dilation: (heads,), integers. Output: "
        "(batch, steps, heads, size).")
    .set_param<WindowParam>()
    .set_inputs({"score", "value", "dilation"})
    .set_infer_shape(ContextShape)
    .set_infer_type(ProductType)
    .set_dtypes(dtypes::kFloats)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{Product(kScore, node, ograds[0], node->inputs[1]),
                                    Product(kTransposedContext, node, node->inputs[0], ograds[0]), NodeEntry()};
    })
    .set_kernel(Context<false>);

MXNET_REGISTER_OP(_contrib_sldwin_atten_mask_like)
    .alias("_npx_sldwin_atten_mask_like")
    .describe(
        "1 where a step and its neighbour are both within the sequence, else 0 (see sldwin_atten_score).\n\n"
        "score: (batch, steps, heads, window), whose shape and dtype the mask gets; dilation: (heads,), integers; valid_length: "
        "(batch,), the number of steps of each sequence. No gradient.")
    .set_param<WindowParam>()
    .set_inputs({"score", "dilation", "valid_length"})
    .set_infer_shape(MaskShape)
    .set_infer_type(MaskType)
    .set_dtypes(dtypes::kFloats)
    .set_zero_gradient()
    .set_kernel(MaskLike);

MXNET_REGISTER_OP(_backward_sldwin_atten_context)
    .describe("The transpose of sldwin_atten_context: for each step, the sum over those whose neighbour it is.")
    .set_param<WindowParam>()
    .set_inputs({"score", "ograd", "dilation"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ContextShape)
    .set_infer_type(ProductType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{Product(kScore, node, node->inputs[1], ograds[0]), Product(kContext, node, node->inputs[0], ograds[0]),
                                    NodeEntry()};
    })
    .set_kernel(Context<true>);

}  // namespace
}  // namespace nn
}  // namespace mxnet
