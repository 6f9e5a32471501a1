// SGD for many arrays in one kernel call: small arrays share the threads of one parallel region.
#include <algorithm>

#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/optimizer/update.h"
#include "operator/record/dtypes.h"
#include "operator/record/tuple_field.h"

namespace mxnet {
namespace {

#define MXNET_UPDATE_NUM_WEIGHTS MXNET_FIELD(num_weights).set_default(1).describe("Number of weights.")
#define MXNET_UPDATE_LRS MXNET_FIELD(lrs).describe("Learning rate of each weight.")
#define MXNET_UPDATE_WDS MXNET_FIELD(wds).describe("Weight decay of each weight.")
#define MXNET_UPDATE_MOMENTUM MXNET_FIELD(momentum).set_default(0.0f).describe("Share of the previous step that is kept.")

struct MultiSgdParam : public Parameter<MultiSgdParam> {
  Tuple<float> lrs, wds;
  float rescale_grad, clip_gradient;
  int num_weights;
  MXNET_DECLARE_PARAM(MultiSgdParam) {
    MXNET_UPDATE_LRS;
    MXNET_UPDATE_WDS;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
    MXNET_UPDATE_NUM_WEIGHTS;
  }
};

struct MultiSgdMomParam : public Parameter<MultiSgdMomParam> {
  Tuple<float> lrs, wds;
  float momentum, rescale_grad, clip_gradient;
  int num_weights;
  MXNET_DECLARE_PARAM(MultiSgdMomParam) {
    MXNET_UPDATE_LRS;
    MXNET_UPDATE_WDS;
    MXNET_UPDATE_MOMENTUM;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
    MXNET_UPDATE_NUM_WEIGHTS;
  }
};

struct PreloadedSgdParam : public Parameter<PreloadedSgdParam> {
  float rescale_grad, clip_gradient;
  int num_weights;
  MXNET_DECLARE_PARAM(PreloadedSgdParam) {
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
    MXNET_UPDATE_NUM_WEIGHTS;
  }
};

struct PreloadedSgdMomParam : public Parameter<PreloadedSgdMomParam> {
  float momentum, rescale_grad, clip_gradient;
  int num_weights;
  MXNET_DECLARE_PARAM(PreloadedSgdMomParam) {
    MXNET_UPDATE_MOMENTUM;
    MXNET_UPDATE_RESCALE;
    MXNET_UPDATE_CLIP;
    MXNET_UPDATE_NUM_WEIGHTS;
  }
};

MXNET_REGISTER_PARAM(MultiSgdParam);
MXNET_REGISTER_PARAM(MultiSgdMomParam);
MXNET_REGISTER_PARAM(PreloadedSgdParam);
MXNET_REGISTER_PARAM(PreloadedSgdMomParam);

/* Inputs come as groups, one per weight: weight, grad (, mom) (, weight32); preloaded: two arrays
 * with all rates and decays follow. */
struct Groups {
  bool momentum, master, preloaded;
  int stride() const { return 2 + momentum + master; }
};

template <typename P>
int CheckedCount(const Attrs& a) {
  const int n = a.get<P>().num_weights;
  MXNET_CHECK_KIND(n >= 1, Value) << "[" << a.op->name << "] num_weights is " << n << "; accepted: 1 or more";
  return n;
}

template <typename P, bool kPreloaded>
bool MultiShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const int n = CheckedCount<P>(attrs), stride = (static_cast<int>(in->size()) - (kPreloaded ? 2 : 0)) / n;
  if constexpr (!kPreloaded) {
    const P& p = attrs.get<P>();
    MXNET_CHECK_KIND(p.lrs.size() == n && p.wds.size() == n, Value)
        << "[" << attrs.op->name << "] got " << p.lrs.size() << " learning rates (lrs) and " << p.wds.size()
        << " decays (wds); accepted: num_weights = " << n << " of each";
  }
  bool known = true;
  for (int w = 0; w < n; ++w) {
    ShapeVector group(in->begin() + w * stride, in->begin() + (w + 1) * stride), result{(*out)[w]};
    known &= ElemwiseShape(attrs, &group, &result);
    std::copy(group.begin(), group.end(), in->begin() + w * stride);
    (*out)[w] = result[0];
  }
  if (kPreloaded)
    for (int k = 0; k < 2; ++k) AssignShape(attrs, k ? "wds" : "lrs", &(*in)[n * stride + k], Shape{n});
  return known;
}

/* Every weight may have a dtype of its own: the reference requires one for all, which this
 * contains. */
InferTypeFn MultiType(Groups g) {
  return [g](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
    const int n = static_cast<int>(out->size()), stride = g.stride();
    bool known = true;
    for (int w = 0; w < n; ++w) {
      std::vector<int> singles;
      if (g.master)
        for (int i = 2; i < stride; ++i) singles.push_back(i);
      std::vector<int> group(in->begin() + w * stride, in->begin() + (w + 1) * stride), result{(*out)[w]};
      known &= UpdateType(singles)(attrs, &group, &result);
      MXNET_CHECK_KIND(!known || dtypes::kFloats.Has(result[0]), Type)
          << "[" << attrs.op->name << "] weight " << w << " is " << DTypeName(result[0])
          << "; accepted: float32, float64, float16, bfloat16";
      std::copy(group.begin(), group.end(), in->begin() + w * stride);
      (*out)[w] = result[0];
    }
    if (g.preloaded)
      for (int k = 0; k < 2; ++k) AssignType(attrs, k ? "wds" : "lrs", &(*in)[n * stride + k], kFloat32);
    return known;
  };
}

template <typename P, bool kMomentum, bool kMaster, bool kPreloaded>
void MultiKernel(KernelArgs& a) {
  const Groups g{kMomentum, kMaster, kPreloaded};
  const P& p = a.param<P>();
  const int n = p.num_weights, stride = g.stride();
  std::vector<UpdateArgs> updates(n);
  std::vector<int64_t> ends(n);
  int64_t total = 0;
  for (int w = 0; w < n; ++w) {
    const TBlob* in = &a.in[w * stride];
    UpdateArgs& u = updates[w];
    u = UpdateArgs{};
    u.rule = kMomentum ? UpdateRule::kSgdMom : UpdateRule::kSgd;
    u.dtype = in[0].dtype;
    u.weight = in[0].dptr;
    u.grad = in[1].dptr;
    if (kMomentum) u.state[0] = in[2].dptr;
    if (kMaster) u.master = in[2 + kMomentum].template data<float>();
    u.out = a.out[w].dptr;
    if constexpr (kPreloaded) {
      if (!a.run.ctx.is_gpu()) u.numbers.lr = a.in[n * stride].template data<float>()[w];
      if (!a.run.ctx.is_gpu()) u.numbers.wd = a.in[n * stride + 1].template data<float>()[w];
    } else {
      u.numbers.lr = p.lrs[w];
      u.numbers.wd = p.wds[w];
    }
    u.numbers.rescale = p.rescale_grad;
    u.numbers.clip = UpdateBound(p.clip_gradient);
    if constexpr (kMomentum) u.numbers.momentum = p.momentum;
    total += a.req[w] == OpReq::kNull ? 0 : in[0].Size();
    ends[w] = total;
  }
  if (a.run.ctx.is_gpu()) {
    std::vector<int64_t> sizes(n);
    for (int w = 0; w < n; ++w) sizes[w] = ends[w] - (w ? ends[w - 1] : 0);
    DeviceRates rates;
    if (kPreloaded) rates = {a.in[n * stride].dptr, a.in[n * stride + 1].dptr, kFloat32};
    return UpdateOnDevice(a.run, updates.data(), sizes.data(), n, rates);
  }
  ParallelFor(total, 0, [&](int64_t begin, int64_t end) {
    size_t w = std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin();
    while (begin < end) {
      const int64_t start = w ? ends[w - 1] : 0, stop = std::min(end, ends[w]);
      MXNET_CPU_CALL(UpdateRange)(updates[w], begin - start, stop - start);
      begin = stop;
      ++w;
    }
  });
}

template <typename P, bool kMomentum, bool kMaster, bool kPreloaded>
void Register(const char* name, const char* text) {
  const Groups g{kMomentum, kMaster, kPreloaded};
  auto count = [g](const Attrs& a) { return CheckedCount<P>(a) * g.stride() + (g.preloaded ? 2 : 0); };
  auto weights = [](const Attrs& a) { return CheckedCount<P>(a); };
  auto names = [g](const Attrs& a) {
    std::vector<std::string> all;
    for (int w = 0; w < CheckedCount<P>(a); ++w) {
      const std::string suffix = "_" + std::to_string(w);
      for (const char* part : {"weight", "grad", "mom", "weight32"})
        if (!(std::string(part) == "mom" && !g.momentum) && !(std::string(part) == "weight32" && !g.master)) all.push_back(part + suffix);
    }
    if (g.preloaded) all.insert(all.end(), {"lrs", "wds"});
    return all;
  };
  auto mutated = [g](const Attrs& a) {
    std::vector<int> which;
    for (int w = 0; w < CheckedCount<P>(a); ++w)
      for (int i = 2; i < g.stride(); ++i) which.push_back(w * g.stride() + i);
    return which;
  };
  auto inplace = [g](const Attrs& a) {
    std::vector<std::pair<int, int>> pairs;
    for (int w = 0; w < CheckedCount<P>(a); ++w) pairs.emplace_back(w * g.stride(), w);
    return pairs;
  };
  Op::Register(name)
      .describe(text)
      .template set_param<P>()
      .set_inputs({"data"}, count)
      .set_list_inputs(names)
      .set_num_outputs(weights)
      .set_mutate_inputs(mutated)
      .set_inplace(inplace)
      .set_infer_shape(MultiShape<P, kPreloaded>)
      .set_infer_type(MultiType(g))
      .set_dtypes(dtypes::kFloats)
      .set_kernel(MultiKernel<P, kMomentum, kMaster, kPreloaded>);
}

[[maybe_unused]] const bool registered = [] {
  Register<MultiSgdParam, false, false, false>("multi_sgd_update",
                                               "sgd_update of several weights; `data` is weight, grad of each in turn.");
  Register<MultiSgdMomParam, true, false, false>(
      "multi_sgd_mom_update",
      "sgd_mom_update of several weights; `data` is weight, grad, mom of each in turn. Each mom is updated in place.");
  Register<MultiSgdParam, false, true, false>(
      "multi_mp_sgd_update",
      "mp_sgd_update of several weights; `data` is weight, grad, weight32 of each in turn. Each weight32 is updated in place.");
  Register<MultiSgdMomParam, true, true, false>("multi_mp_sgd_mom_update",
                                                "mp_sgd_mom_update of several weights; `data` is weight, grad, mom, weight32 of each in "
                                                "turn. Each mom and weight32 is updated in place.");
  const char* rates =
      "As the operator without preloaded_, with learning rates and decays in two arrays of num_weights float32 numbers at the end of "
      "`data`.";
  Register<PreloadedSgdParam, false, false, true>("preloaded_multi_sgd_update", rates);
  Register<PreloadedSgdMomParam, true, false, true>("preloaded_multi_sgd_mom_update", rates);
  Register<PreloadedSgdParam, false, true, true>("preloaded_multi_mp_sgd_update", rates);
  Register<PreloadedSgdMomParam, true, true, true>("preloaded_multi_mp_sgd_mom_update", rates);
  return true;
}();

}  // namespace
}  // namespace mxnet
