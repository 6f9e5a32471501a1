/*
 * NVRTC without a device: the compile service, and every generated kernel's text compiled to PTX
 * (and some to sm_90 code). With NIGHTLY set in the environment: all dtypes of all rows.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/device/device_interface.h"
#include "common/scoped_part.h"
#include "mxnet/env.h"
#include "mxnet/error.h"
#include "mxnet/op.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/gpu_program.h"
#include "operator/pointwise/rows.h"
#include "operator/reduce/gpu_reduce.h"
#include "rtc/cache.h"
#include "rtc/compile.h"
#include "rtc/module.h"

namespace mxnet {
namespace {

bool Nightly() { return std::getenv("NIGHTLY") != nullptr; }

rtc::CompiledCode ToPtx(const std::string& name, const std::string& source, const char* architecture = "compute_90") {
  rtc::CompileRequest r;
  r.name = name + ".cu";
  r.source = source;
  r.options = rtc::KernelOptions();
  r.architecture = architecture;
  return rtc::Compile(r);
}

std::string TemporaryFolder() {
  char name[] = "/tmp/mxnet_nvrtc_XXXXXX";
  return mkdtemp(name);
}

const char* const kTiny =
    "template <typename T> __global__ void twice(T* x) { x[threadIdx.x] *= 2; }\nextern \"C\" __global__ void one(int* x) { *x = 1; }\n";

TEST(RtcCompile, PtxCubinAndNames) {
  rtc::CompileRequest r;
  r.name = "tiny.cu";
  r.source = kTiny;
  r.architecture = "compute_90";
  r.names = {"twice<float>"};
  const rtc::CompiledCode ptx = rtc::Compile(r);
  EXPECT_NE(ptx.code.find(".entry one"), std::string::npos);
  ASSERT_EQ(ptx.mangled.count("twice<float>"), 1u);
  EXPECT_NE(ptx.code.find(ptx.mangled.at("twice<float>")), std::string::npos);
  r.architecture = "sm_90";
  const rtc::CompiledCode cubin = rtc::Compile(r);
  EXPECT_EQ(cubin.code.compare(0, 4,
                               "\x7f"
                               "ELF"),
            0);
}

TEST(RtcCompile, ErrorsCarryTheLog) {
  rtc::CompileRequest r;
  r.name = "broken.cu";
  r.source = "__global__ void f() { undeclared_thing = 1; }";
  r.architecture = "compute_90";
  try {
    rtc::Compile(r);
    FAIL() << "compiled";
  } catch (const Error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("[rtc] broken.cu"), std::string::npos) << what;
    EXPECT_NE(what.find("undeclared_thing"), std::string::npos) << what;
  }
}

TEST(RtcCompile, CacheIsUsedAndDamageRepaired) {
  const std::string folder = TemporaryFolder();
  rtc::CompileRequest r;
  r.name = "tiny.cu";
  r.source = kTiny;
  r.architecture = "compute_90";
  r.names = {"twice<float>"};
  const rtc::CompiledCode first = rtc::CompileCached(r, folder);
  FILE* list = popen(("ls " + folder).c_str(), "r");
  char line[200] = "";
  ASSERT_NE(fgets(line, sizeof(line), list), nullptr);
  pclose(list);
  const std::string path = folder + "/" + std::string(line).substr(0, std::string(line).find('\n'));
  // an entry that was not compiled from this source shows that the second call reads it
  std::string request;  // key text is internal: damage instead, and look that the result is whole again
  const rtc::CompiledCode again = rtc::CompileCached(r, folder);
  EXPECT_EQ(again.code, first.code);
  EXPECT_EQ(again.mangled, first.mangled);
  FILE* f = std::fopen(path.c_str(), "r+b");
  ASSERT_NE(f, nullptr);
  std::fseek(f, -20, SEEK_END);
  std::fputs("damage", f);
  std::fclose(f);
  const rtc::CompiledCode repaired = rtc::CompileCached(r, folder);
  EXPECT_EQ(repaired.code, first.code);
  r.options = {"--std=c++17", "-DOTHER"};
  rtc::CompileCached(r, folder);
  int files = 0;
  list = popen(("ls " + folder).c_str(), "r");
  while (fgets(line, sizeof(line), list)) ++files;
  pclose(list);
  EXPECT_EQ(files, 2) << "other options make another entry, and no temporary file stays";
}

// ---- the pointwise table
pointwise::DeviceProgram OneStep(const pointwise::Function& f, int compute) {
  pointwise::DeviceProgram p;
  p.name = "pointwise_" + pointwise::DeviceName(f);
  p.compute = compute;
  p.steps.resize(1);
  p.steps[0].function = f;
  for (int k = 0; k < pointwise::OperandCount(f); ++k) p.steps[0].from.push_back({pointwise::DeviceValue::kInput, k});
  p.steps[0].params = 0;
  p.numbers = 3;
  return p;
}

// Functions that are computed in double for every type, because their series are.
bool ComputedInDouble(int row) { return row >= pointwise::k_gamma && row <= pointwise::k_tetragamma; }

TEST(NvrtcKernels, EveryRowOfTheTable) {
  const std::vector<int> floats = {kFloat32, kFloat16, kBfloat16}, integers = {kInt32, kUint8, kInt8, kBool};
  int compiled = 0, turn = 0;
  for (int row = 0; row < pointwise::kEndInteger; ++row)
    for (const pointwise::Function& f : {pointwise::Forward(row), pointwise::Gradient(row, 0), pointwise::Gradient(row, 1)})
      for (int compute : {pointwise::kF32, pointwise::kF64, pointwise::kI32, pointwise::kI64}) {
        if (!pointwise::HasFunction(f, compute)) continue;
        std::vector<int> dtypes = compute == pointwise::kF32   ? floats
                                  : compute == pointwise::kF64 ? std::vector<int>{kFloat64}
                                  : compute == pointwise::kI32 ? integers
                                                               : std::vector<int>{kInt64};
        if (!Nightly()) {
          if (compute != pointwise::kF32 && compute != pointwise::kI32 && row % 7) continue;
          dtypes = {dtypes[turn++ % dtypes.size()]};
        }
        for (int dtype : dtypes) {
          const pointwise::DeviceProgram p = OneStep(f, compute);
          pointwise::DeviceVariant v;
          const int count = pointwise::OperandCount(f);
          v.dtypes.assign(count, dtype);
          v.access.assign(count, pointwise::Access::kAlong);
          v.out_dtype = dtype;
          v.width = static_cast<int>(16 / DTypeSize(dtype));
          v.add = turn % 3 == 0;
          const std::string source = pointwise::ProgramText(p, v);
          rtc::CompiledCode ptx;
          ASSERT_NO_THROW(ptx = ToPtx(p.name, source)) << source;
          ++compiled;
          EXPECT_NE(ptx.code.find(".entry " + p.name), std::string::npos) << p.name;
          // 16 bytes at a time. Integers are never NaN or infinite, so those rows read nothing; a
          // remainder is a loop of its own
          const bool predicate = compute >= pointwise::kI32 && row >= pointwise::k_isnan && row <= pointwise::k_isneginf;
          if (predicate || row == pointwise::k_mod || row == pointwise::k_fmod) continue;
          EXPECT_TRUE(ptx.code.find("ld.global.v") != std::string::npos) << p.name << " reads element by element\n" << ptx.code;
          EXPECT_TRUE(ptx.code.find("st.global.v") != std::string::npos) << p.name << " writes element by element";
          if (compute == pointwise::kF32 && !ComputedInDouble(row)) {
            // the numbers arrive as double; the arithmetic is float
            for (const char* instruction : {"add.f64", "mul.f64", "fma.rn.f64", "div.rn.f64", "add.rn.f64", "mul.rn.f64"}) {
              const bool big_angle =
                  row == pointwise::k_sin || row == pointwise::k_cos || row == pointwise::k_tan;  // their reduction of large angles
              if (!big_angle) {
                EXPECT_EQ(ptx.code.find(instruction), std::string::npos) << p.name << " computes in double: " << instruction;
              }
            }
          }
        }
      }
  EXPECT_GT(compiled, 150);
}

TEST(NvrtcKernels, EveryAccessOfPrograms) {
  using pointwise::Access;
  const pointwise::Function add = pointwise::Forward(pointwise::k_add);
  for (Access a : {Access::kAlong, Access::kSingle, Access::kRows, Access::kRepeated, Access::kAny})
    for (Access b : {Access::kAlong, Access::kRows, Access::kRepeated})
      for (bool large : {false, true}) {
        pointwise::DeviceVariant v;
        v.dtypes = {kFloat16, kFloat32};
        v.access = {a, b};
        v.out_dtype = kBfloat16;
        v.ndim = a == Access::kAlong && b == Access::kAlong ? 0 : 3;
        v.width = a == Access::kAny ? 1 : 4;
        v.large = large;
        const pointwise::DeviceProgram p = OneStep(add, pointwise::kF32);
        const std::string source = pointwise::ProgramText(p, v);
        EXPECT_NO_THROW(ToPtx(p.name, source, "sm_90")) << source;
      }
}

TEST(NvrtcKernels, Reductions) {
  using reduce::DeviceReduction;
  for (int kind = 0; kind < reduce::kNumKinds; ++kind)
    for (int dtype : {kFloat32, kFloat16, kFloat64, kInt32, kBool}) {
      if (!Nightly() && (kind + dtype) % 2) continue;
      DeviceReduction r;
      r.kind = static_cast<reduce::Kind>(kind);
      r.in_dtype = r.out_dtype = dtype;
      r.integer = !IsFloating(dtype);
      r.kept = 1 + kind % 2;
      r.reduced = 1 + dtype % 2;
      r.lanes = kind % 3 ? 256 : 8;
      r.columns = kind % 3 == 0;
      r.width = std::min<int>(static_cast<int>(16 / DTypeSize(dtype)), r.columns ? 8 : 16);
      r.large = kind % 5 == 0;
      r.add = kind % 2;
      r.sqrt = kind == reduce::kSumSquare;
      r.has_initial = kind == reduce::kMax;
      for (int stage = 0; stage < 3; ++stage) {
        r.partial = stage == 1;
        r.again = stage == 2;
        if (r.again) r.width = 1;
        const std::string source = reduce::ReductionKernel(r, "reduce").source;
        rtc::CompiledCode ptx;
        EXPECT_NO_THROW(ptx = ToPtx("reduce", source)) << source;
        if (r.width > 1) {
          EXPECT_NE(ptx.code.find("ld.global.v"), std::string::npos) << "reads element by element\n" << source;
        }
      }
    }
  for (auto what : {DeviceReduction::kArgMax, DeviceReduction::kArgMin})
    for (int dtype : {kFloat32, kFloat64, kBfloat16, kInt64}) {
      DeviceReduction r;
      r.what = what;
      r.in_dtype = dtype;
      r.out_dtype = kInt64;
      r.integer = !IsFloating(dtype);
      r.kept = r.reduced = 1;
      for (int stage = 0; stage < 3; ++stage) {
        r.partial = stage == 1, r.again = stage == 2, r.columns = stage != 2;
        r.lanes = r.columns ? 8 : 32;
        EXPECT_NO_THROW(ToPtx("argmax", reduce::ReductionKernel(r, "argmax").source));
      }
    }
}

// ---- the other generated kernels, as operators launch them: the hook compiles and does not run
std::set<std::string> g_seen;
void CompileOnly(const rtc::Kernel& kernel, const rtc::LaunchShape&, void*, size_t, const RunContext&) {
  g_seen.insert(kernel.name);
  ToPtx(kernel.name, kernel.source);
}
void ReadNothing(const void*, void* dst, size_t bytes, const RunContext&) { std::memset(dst, 0, bytes); }
const rtc::LaunchHooks kCompileOnly = {CompileOnly, ReadNothing};

void RunOp(const std::string& name, const std::vector<Shape>& shapes, int dtype, const AttrDict& dict) {
  const Op* op = Op::Get(name);
  const AttrsPtr attrs = MakeAttrs(op, dict);
  ShapeVector in_shapes(shapes.begin(), shapes.end()), out_shapes(op->NumOutputs(*attrs));
  std::vector<int> in_types(shapes.size(), dtype), out_types(out_shapes.size(), kDTypeUnknown);
  ASSERT_TRUE(InferCall(*attrs, {}, &in_shapes, &out_shapes)) << name;
  ASSERT_TRUE(InferCall(*attrs, {}, &in_types, &out_types)) << name;
  std::vector<TBlob> in(in_shapes.size()), out(out_shapes.size());
  for (size_t i = 0; i < in.size(); ++i)
    in[i].shape = in_shapes[i], in[i].dtype = in_types[i], in[i].dptr = reinterpret_cast<void*>(uintptr_t{1} << 20);
  for (size_t i = 0; i < out.size(); ++i)
    out[i].shape = out_shapes[i], out[i].dtype = out_types[i], out[i].dptr = reinterpret_cast<void*>(uintptr_t{1} << 30);
  std::vector<OpReq> req(out.size(), OpReq::kWrite);
  KernelArgs a;
  RandomState random;
  a.attrs = attrs.get();
  a.in = Span<const TBlob>(in);
  a.out = Span<const TBlob>(out);
  a.req = Span<const OpReq>(req);
  a.run.ctx = Context::GPU(0);
  a.is_train = true;
  a.random = &random;
  a.workspace = [](size_t) { return reinterpret_cast<void*>(uintptr_t{1} << 29); };
  const Kernel* kernel = op->KernelFor(DeviceType::kGPU);
  ASSERT_NE(kernel, nullptr) << name;
  ASSERT_NO_THROW((*kernel)(a)) << name;
}

TEST(NvrtcKernels, OperatorsWithTextsOfTheirOwn) {
  std::optional<ScopedPart<rtc::LaunchHooks>> kernels(std::in_place, GpuInterface().kernels, &kCompileOnly);
  for (int dtype : {kFloat32, kFloat16, kFloat64}) {
    const std::string name = DTypeName(dtype);
    RunOp("_full", {}, dtype, {{"shape", "(3, 5)"}, {"value", "2.5"}, {"dtype", name}});
    RunOp("_arange", {}, dtype, {{"start", "1"}, {"stop", "9"}, {"dtype", name}});
    RunOp("_eye", {}, dtype, {{"N", "4"}, {"dtype", name}});
    RunOp("transpose", {{3, 4, 5}}, dtype, {{"axes", "(2, 0, 1)"}});
    RunOp("Concat", {{2, 3}, {2, 5}}, dtype, {{"num_args", "2"}, {"dim", "1"}});
    RunOp("_backward_slice", {{2, 3}, {4, 6}}, dtype, {{"begin", "(1, 0)"}, {"end", "(3, 3)"}});
    for (const char* op : {"softmax", "log_softmax"}) {
      RunOp(op, {{4, 10}}, dtype, {});
      RunOp(std::string("_backward_") + op, {{4, 10}, {4, 10}}, dtype, {});
    }
    RunOp("_random_uniform", {}, dtype, {{"shape", "(10,)"}, {"dtype", name}});
    RunOp("_random_normal", {}, dtype, {{"shape", "(10,)"}, {"dtype", name}});
    RunOp("sgd_mom_update", {{10}, {10}, {10}}, dtype, {{"lr", "0.1"}, {"momentum", "0.9"}});
    RunOp("adam_update", {{10}, {10}, {10}, {10}}, dtype, {{"lr", "0.1"}});
  }
  // every operator of the library whose inputs can be made up here: shapes and parameters are those
  // of the emulator's tests
  for (int dtype : {kFloat32, kFloat16, kInt32}) {
    const std::string name = DTypeName(dtype);
    for (const char* mode : {"clip", "wrap", "raise"}) RunOp("take", {{5, 7}, {3, 4}}, dtype, {{"mode", mode}});
    RunOp("_backward_take", {{3, 4, 7}, {3, 4}, {5, 7}}, dtype, {});
    RunOp("_backward_pick", {{4, 3}, {4, 3}, {4, 5, 3}}, dtype, {{"axis", "1"}});
    RunOp("one_hot", {{7}}, dtype, {{"depth", "5"}, {"dtype", name}});
    RunOp("where", {{4, 5}, {4, 5}, {4, 5}}, dtype, {});
    RunOp("gather_nd", {{4, 4, 3}, {2, 5}}, dtype, {});
    RunOp("scatter_nd", {{9, 3}, {2, 9}}, dtype, {{"shape", "(4, 4, 3)"}});
    RunOp("SequenceMask", {{5, 3, 2}, {3}}, dtype, {{"use_sequence_length", "1"}});
    RunOp("SequenceReverse", {{5, 3, 2}, {3}}, dtype, {{"use_sequence_length", "1"}});
    for (const char* mode : {"constant", "edge", "reflect"}) {
      RunOp("Pad", {{2, 3, 4, 5}}, dtype, {{"mode", mode}, {"pad_width", "(0,0,0,0,1,2,3,0)"}});
      RunOp("_backward_Pad", {{2, 3, 7, 8}, {2, 3, 4, 5}}, dtype, {{"mode", mode}, {"pad_width", "(0,0,0,0,1,2,3,0)"}});
    }
    RunOp("_backward_tile", {{4, 6}, {2, 3}}, dtype, {{"reps", "(2, 2)"}});
    RunOp("_backward_tile", {{600, 2}, {2}}, dtype, {{"reps", "(600, 1)"}});
    RunOp("argsort", {{3, 37}}, dtype, {});
    RunOp("argsort", {{3, 2100}}, dtype, {});
    RunOp("_np_cumsum", {{2, 2100}}, dtype, {{"axis", "1"}});
    RunOp("_histogram", {{400}}, dtype, {{"bin_cnt", "7"}, {"range", "(-2, 2)"}});
  }
  RunOp("argsort", {{2100}}, kFloat64, {});
  RunOp("_ravel_multi_index", {{3, 7}}, kInt64, {{"shape", "(-1, 5, 4)"}});
  RunOp("_unravel_index", {{3, 7}}, kInt64, {{"shape", "(9, 5, 4)"}});
  kernels.reset();
  for (const char* name :
       {"radix_scatter", "order_line", "order_results", "scan_tiles", "add_rows", "put_rows", "take_rows", "pad_backward", "histogram"})
    EXPECT_EQ(g_seen.count(name), 1u) << name;
  for (const char* name :
       {"fill_value", "fill_range", "fill_eye", "copy_strided", "zero", "softmax", "softmax_backward", "random_uniform", "random_normal"})
    EXPECT_EQ(g_seen.count(name), 1u) << name;
}

}  // namespace
}  // namespace mxnet
