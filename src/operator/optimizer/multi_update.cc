#include "operator/optimizer/multi_update.h"

#include <algorithm>

#include "operator/optimizer/update.h"
#include "operator/record/dtypes.h"

namespace mxnet {
namespace {

/* Every weight may have a dtype of its own, as with SGD. The factor is float32, or has the dtype
 * of the first weight where there are no float32 copies. */
InferTypeFn MomentTypes(MomentGroups g) {
  return [g](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
    const int n = static_cast<int>(out->size()), stride = g.stride();
    bool known = true;
    for (int w = 0; w < n; ++w) {
      const std::vector<int> singles = g.master ? std::vector<int>{2, 3, 4} : std::vector<int>{};
      std::vector<int> group(in->begin() + w * stride, in->begin() + (w + 1) * stride), result{(*out)[w]};
      known &= UpdateType(singles)(attrs, &group, &result);
      MXNET_CHECK_KIND(result[0] == kDTypeUnknown || dtypes::kFloats.Has(result[0]), Type)
          << "[" << attrs.op->name << "] weight " << w << " is " << DTypeName(result[0])
          << "; accepted: float32, float64, float16, bfloat16";
      std::copy(group.begin(), group.end(), in->begin() + w * stride);
      (*out)[w] = result[0];
    }
    if (!g.factor) return known;
    int& factor = (*in)[n * stride];
    if (factor == kDTypeUnknown) factor = kFloat32;
    MXNET_CHECK_KIND(dtypes::kFloats.Has(factor), Type)
        << "[" << attrs.op->name << "] rescale_grad is " << DTypeName(factor) << "; accepted: float32, float64, float16, bfloat16";
    return known;
  };
}

InferShapeFn MomentShapes(MomentGroups g, const std::function<int(const Attrs&)>& count, const std::function<void(const Attrs&)>& check) {
  return [g, count, check](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
    check(attrs);
    const int n = count(attrs), stride = g.stride();
    bool known = true;
    for (int w = 0; w < n; ++w) {
      ShapeVector group(in->begin() + w * stride, in->begin() + (w + 1) * stride), result{(*out)[w]};
      known &= ElemwiseShape(attrs, &group, &result);
      std::copy(group.begin(), group.end(), in->begin() + w * stride);
      (*out)[w] = result[0];
    }
    if (!g.factor) return known;
    const Shape& factor = (*in)[n * stride];
    MXNET_CHECK_KIND(!factor.known() || factor.Size() >= 1, Value)
        << "[" << attrs.op->name << "] rescale_grad has shape " << factor << "; accepted: an array with an element";
    return known && factor.known();
  };
}

}  // namespace

Op& SetMoments(const char* name, MomentGroups g, std::function<int(const Attrs&)> count, std::function<void(const Attrs&)> check) {
  auto inputs = [g, count](const Attrs& a) { return count(a) * g.stride() + g.factor; };
  auto names = [g, count](const Attrs& a) {
    std::vector<std::string> all;
    for (int w = 0; w < count(a); ++w)
      for (const char* part : {"weight", "grad", "mean", "var", "weight32"})
        if (g.master || std::string(part) != "weight32") all.push_back(part + ("_" + std::to_string(w)));
    if (g.factor) all.push_back("rescale_grad");
    return all;
  };
  auto mutated = [g, count](const Attrs& a) {
    std::vector<int> which;
    for (int w = 0; w < count(a); ++w)
      for (int i = 2; i < g.stride(); ++i) which.push_back(w * g.stride() + i);
    return which;
  };
  auto inplace = [g, count](const Attrs& a) {
    std::vector<std::pair<int, int>> pairs;
    for (int w = 0; w < count(a); ++w) pairs.emplace_back(w * g.stride(), w);
    return pairs;
  };
  return Op::Register(name)
      .set_inputs({"data"}, inputs)
      .set_list_inputs(names)
      .set_num_outputs(count)
      .set_mutate_inputs(mutated)
      .set_inplace(inplace)
      .set_infer_shape(MomentShapes(g, count, check))
      .set_infer_type(MomentTypes(g))
      .set_dtypes(dtypes::kFloats);
}

UpdateArgs MomentArrays(const KernelArgs& a, MomentGroups g, int w) {
  const TBlob* in = &a.in[w * g.stride()];
  UpdateArgs u{};
  u.dtype = in[0].dtype;
  u.weight = in[0].dptr;
  u.grad = in[1].dptr;
  u.state[0] = in[2].dptr;
  u.state[1] = in[3].dptr;
  if (g.master) u.master = in[4].data<float>();
  u.out = a.out[w].dptr;
  return u;
}

void ForWeights(const std::vector<int64_t>& ends, const std::function<void(int, int64_t, int64_t)>& f) {
  ParallelFor(ends.empty() ? 0 : ends.back(), 0, [&](int64_t begin, int64_t end) {
    size_t w = std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin();
    while (begin < end) {
      const int64_t start = w ? ends[w - 1] : 0, stop = std::min(end, ends[w]);
      f(static_cast<int>(w), begin - start, stop - start);
      begin = stop;
      ++w;
    }
  });
}

}  // namespace mxnet
