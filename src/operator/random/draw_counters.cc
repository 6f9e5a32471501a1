// _draw_counters: for computations that need the same random numbers more than once, forward and
// backward or when they are done again.
#include "mxnet/error.h"
#include "mxnet/op.h"
#include "operator/nodes/make_nodes.h"
#include "operator/random/gpu_random.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {

struct DrawCountersParam : public Parameter<DrawCountersParam> {
  int64_t counters;
  MXNET_DECLARE_PARAM(DrawCountersParam) { MXNET_FIELD(counters).set_lower_bound(0).describe("How many counters nobody else gets."); }
};
MXNET_REGISTER_PARAM(DrawCountersParam);

namespace {

void DrawCounters(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const uint64_t counters = static_cast<uint64_t>(args.param<DrawCountersParam>().counters);
  if (args.run.ctx.is_gpu()) {
    rtc::Arguments a;
    DrawsOnDevice(args.run, args.random, counters).AddTo(&a.Add(args.out[0].dptr));
    return rtc::LaunchItems(args.run, {"operator/random/gpu_random.cuh", "draw_counters"}, 1, &a);
  }
  uint64_t* out = args.out[0].data<uint64_t>();
  out[0] = args.random->seed();
  out[1] = out[2] = args.random->Take(counters);
  out[3] = 0;
}

MXNET_REGISTER_OP(_draw_counters)
    .describe(
        "Reserves counters of the random generator (Philox4x32-10) and tells where they begin, for operators that draw the same numbers "
        "more than once; made by the plan compiler.\n\n"
        "The bits of seed, first counter, first counter, 0: what libraries read lies at multiples of 16 bytes.")
    .set_param<DrawCountersParam>()
    .set_inputs({})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape([](const Attrs& attrs, ShapeVector*, ShapeVector* out) {
      AssignShape(attrs, "output", &(*out)[0], Shape{4});
      return true;
    })
    .set_infer_type([](const Attrs& attrs, std::vector<int>*, std::vector<int>* out) {
      AssignType(attrs, "output", &(*out)[0], kInt64);
      return true;
    })
    .set_uses_random()
    .set_zero_gradient()
    .set_kernel(DrawCounters);

}  // namespace

NodeEntry MakeDrawCounters(uint64_t counters, const std::string& name) {
  return MakeOp("_draw_counters", {}, {{"counters", std::to_string(counters)}}, name);
}

}  // namespace mxnet
