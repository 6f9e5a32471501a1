/* MXNET_GPU_WORKER_NSTREAMS=2: gradients of parameters on a second stream, beside that of the
 * data. */
#include <utility>
#include <vector>

#include "base/device/device_interface.h"
#include "common/scoped_part.h"
#include "engine/stream_order.h"
#include "fake_engine_library.h"
#include "fake_gemm_library.h"
#include "gpu_cases.h"
#include "gpu_emulator.h"
#include "mxnet/op.h"

namespace mxnet {
namespace {

std::vector<std::pair<void*, void*>> g_orders;
void Record(void* later, void* earlier) { g_orders.emplace_back(later, earlier); }
void Fail(void* later, void*) {
  if (later == reinterpret_cast<void*>(1)) throw Error("no order");
}

/* Streams of which the order alone is asked. */
class Ordered {
 public:
  explicit Ordered(void (*order)(void* later, void* earlier)) {
    g_orders.clear();
    hooks_.order = order;
  }

 private:
  StreamHooks hooks_ = {};
  const ScopedPart<StreamHooks> part_{GpuInterface().streams, &hooks_};
};

void* const kMain = reinterpret_cast<void*>(1);
void* const kSide = reinterpret_cast<void*>(2);
RunContext Streams(void* aux) {
  RunContext run;
  run.ctx = Context::GPU(0);
  run.stream = kMain;
  run.aux_stream = aux;
  return run;
}

/* One run of a backward operator on ones; `wanted` by output. */
void Backward(const char* name, const AttrDict& dict, const ShapeVector& in_shapes, const std::vector<OpReq>& wanted, void* aux) {
  const Op* op = Op::Get(name);
  const AttrsPtr attrs = MakeAttrs(op, dict);
  std::vector<std::vector<float>> memory;
  memory.reserve(64);
  auto blob = [&](const Shape& shape) {
    memory.emplace_back(static_cast<size_t>(shape.Size()) + 16, 1.f);
    TBlob b;
    b.shape = shape;
    b.ctx = Context::GPU(0);
    b.dptr = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.back().data()) + 31) / 32 * 32);
    return b;
  };
  std::vector<TBlob> in, out;
  for (const Shape& s : in_shapes) in.push_back(blob(s));
  for (size_t i = 1; i < in_shapes.size(); ++i) out.push_back(blob(in_shapes[i]));
  KernelArgs a;
  a.attrs = attrs.get();
  a.in = Span<const TBlob>(in);
  a.out = Span<const TBlob>(out);
  a.req = Span<const OpReq>(wanted);
  a.run = Streams(aux);
  std::vector<std::vector<char>> workspace;
  a.workspace = [&](size_t bytes) {
    workspace.emplace_back(bytes + 64);
    return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(workspace.back().data()) + 63) / 64 * 64);
  };
  (*op->KernelFor(DeviceType::kGPU))(a);
}

const AttrDict kConv = {{"kernel", "(3, 3)"}, {"num_filter", "4"}}, kDense = {{"num_hidden", "4"}};
const ShapeVector kConvShapes = {{2, 4, 3, 3}, {2, 3, 5, 5}, {4, 3, 3, 3}, {4}}, kDenseShapes = {{3, 4}, {3, 5}, {4, 5}, {4}};
const std::vector<OpReq> kAll(3, OpReq::kWrite), kData = {OpReq::kWrite, OpReq::kNull, OpReq::kNull};
const std::vector<std::pair<void*, void*>> kForkAndJoin = {{kSide, kMain}, {kMain, kSide}};

TEST(SideStream, ParametersRunBesideTheData) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  FakeEngineLibrary engines;
  FakeGemmLibrary products;
  EmulatedDevice device;
  Ordered ordered(Record);
  Backward("_backward_Convolution", kConv, kConvShapes, kAll, kSide);
  EXPECT_EQ(g_orders, kForkAndJoin);
  for (size_t i = 0; i < FakeEngineLibrary::state().run.size(); ++i)
    EXPECT_EQ(FakeEngineLibrary::state().streams[i], FakeEngineLibrary::state().run[i].pass == nn::ConvPass::kBackwardData ? kMain : kSide);
  EXPECT_EQ(FakeEngineLibrary::state().run.size(), 2u);
  g_orders.clear();
  Backward("_backward_FullyConnected", kDense, kDenseShapes, kAll, kSide);
  EXPECT_EQ(g_orders, kForkAndJoin);
  EXPECT_EQ(FakeGemmLibrary::streams(), (std::vector<void*>{kSide, kMain}));
}

TEST(SideStream, OneStreamWhereThereIsOnlyOneOrNothingToRunBeside) {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
  FakeEngineLibrary engines;
  FakeGemmLibrary products;
  EmulatedDevice device;
  Ordered ordered(Record);
  Backward("_backward_Convolution", kConv, kConvShapes, kAll, nullptr);
  Backward("_backward_FullyConnected", kDense, kDenseShapes, kAll, nullptr);
  Backward("_backward_Convolution", kConv, kConvShapes, kData, kSide);
  Backward("_backward_FullyConnected", kDense, kDenseShapes, kData, kSide);
  EXPECT_TRUE(g_orders.empty());
  for (void* s : FakeEngineLibrary::state().streams) EXPECT_EQ(s, kMain);
  for (void* s : FakeGemmLibrary::streams()) EXPECT_EQ(s, kMain);
}

TEST(SideStream, JoinReportsFaultsAndItsEndDoesNot) {
  Ordered ordered(Fail);
  {
    engine::SideStream side(Streams(kSide), true);
    EXPECT_EQ(side.run().stream, kSide);
  }
  engine::SideStream side(Streams(kSide), true);
  EXPECT_THROW(side.Join(), Error);
}

}  // namespace
}  // namespace mxnet
