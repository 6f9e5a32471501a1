#include "operator/optimizer/scaled_update.h"

#include <cmath>
#include <cstring>

#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/record/dtypes.h"

namespace mxnet {
namespace {

/* The last input is the factor on the gradient; 0 or a number that is not finite (a loss scale that
 * overflowed) skips the update. */
void ScaledKernel(KernelArgs& a, UpdateRule rule, bool master, const std::function<void(const Attrs&, UpdateNumbers*)>& fill) {
  if (a.req[0] == OpReq::kNull) return;
  const TBlob& factor = a.in[4 + master];
  const bool device = a.run.ctx.is_gpu();
  const double rescale = device ? 1 : FirstNumber(factor);
  if (!std::isfinite(rescale) || rescale == 0) {
    if (a.out[0].dptr != a.in[0].dptr) std::memcpy(a.out[0].dptr, a.in[0].dptr, a.in[0].Bytes());
    return;
  }
  UpdateArgs u{};
  u.rule = rule;
  u.dtype = a.in[0].dtype;
  u.weight = a.in[0].dptr;
  u.grad = a.in[1].dptr;
  u.state[0] = a.in[2].dptr;
  u.state[1] = a.in[3].dptr;
  if (master) u.master = a.in[4].data<float>();
  u.out = a.out[0].dptr;
  fill(*a.attrs, &u.numbers);
  u.numbers.rescale = rescale;
  if (device) {
    DeviceNumbers numbers;
    numbers.kind = DeviceNumbers::kRescale;
    numbers.first = factor;
    return UpdateOnDevice(a.run, u, a.in[0].Size(), numbers);
  }
  ParallelFor(a.in[0].Size(), 0, [&u](int64_t begin, int64_t end) { MXNET_CPU_CALL(UpdateRange)(u, begin, end); });
}

}  // namespace

double FirstNumber(const TBlob& b) {
  double v = 0;
  ConvertElements(b.dptr, b.dtype, &v, kFloat64, 1);
  return v;
}

InferShapeFn ShapeWithScalars(std::vector<int> scalars) {
  return [scalars](const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
    ShapeVector rest;
    auto is_scalar = [&](size_t i) {
      for (int s : scalars)
        if (s == static_cast<int>(i)) return true;
      return false;
    };
    for (size_t i = 0; i < in->size(); ++i)
      if (!is_scalar(i)) rest.push_back((*in)[i]);
    bool known = ElemwiseShape(attrs, &rest, out);
    for (size_t i = 0, k = 0; i < in->size(); ++i) {
      Shape& s = (*in)[i];
      if (!is_scalar(i)) {
        s = rest[k++];
      } else if (!s.known()) {
        known = false;
      } else {
        // 1.9.1 looks at the first dimension alone, and at the first element.
        MXNET_CHECK_KIND(s.Size() == 1 || (s.Size() > 1 && s[0] == 1), Value)
            << "[" << attrs.op->name << "] input `" << attrs.op->input_names[i] << "` has shape " << s
            << "; accepted: one element, or several behind a first dimension of 1, of which the first counts";
      }
    }
    return known;
  };
}

Op& SetScaledUpdate(const char* name, UpdateRule rule, bool master, std::function<void(const Attrs&, UpdateNumbers*)> fill) {
  const int factor = 4 + master;
  const std::vector<int> changed = master ? std::vector<int>{2, 3, 4} : std::vector<int>{2, 3};
  return Op::Register(name)
      .set_inputs(master ? std::vector<std::string>{"weight", "grad", "mean", "var", "weight32", "rescale_grad"}
                         : std::vector<std::string>{"weight", "grad", "mean", "var", "rescale_grad"})
      .set_mutate_inputs(changed)
      .set_inplace({{0, 0}})
      .set_infer_shape(ShapeWithScalars({factor}))
      .set_infer_type(UpdateType(master ? std::vector<int>{2, 3, 4, 5} : std::vector<int>{4}))
      .set_dtypes(dtypes::kFloats)
      .set_kernel([rule, master, fill](KernelArgs& a) { ScaledKernel(a, rule, master, fill); });
}

}  // namespace mxnet
