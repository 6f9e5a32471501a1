/*
 * The GPU kernels of operators without a GPU: every record's GPU kernel runs on the emulator
 * (gpu_emulator.h) and must give what its CPU kernel gives. gpu_kernels_cuda_test.cc compiles the
 * same texts with NVRTC.
 */
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/device/device_interface.h"
#include "common/scoped_part.h"
#include "gpu_cases.h"
#include "gpu_emulator.h"
#include "mxnet/graph.h"
#include "mxnet/op.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/gpu_program.h"
#include "operator/pointwise/rows.h"
#include "rtc/cache.h"
#include "rtc/kernel.h"
#include "rtc/prelude.h"
#include "rtc/source.h"

namespace mxnet {
namespace {

TEST(Rtc, FastDivisorIsExactBelowTwoToThe31) {
  std::mt19937 random(3);
  for (int64_t d : {1, 2, 3, 5, 7, 10, 31, 32, 33, 641, 65537, 1000003, 2147483647}) {
    const rtc::FastDivisor f(d);
    auto divide = [&](uint32_t i) {
      return (static_cast<uint32_t>((static_cast<uint64_t>(i) * static_cast<uint32_t>(f.multiplier)) >> 32) + i) >> f.shift;
    };
    for (int64_t i : {int64_t{0}, int64_t{1}, d - 1, d, d + 1, int64_t{2147483647}, int64_t{2147483646}}) {
      if (i > 2147483647) continue;
      EXPECT_EQ(divide(static_cast<uint32_t>(i)), static_cast<uint32_t>(i / d)) << i << " / " << d;
    }
    for (int k = 0; k < 1000; ++k) {
      const uint32_t i = random() >> 1;
      ASSERT_EQ(divide(i), i / static_cast<uint32_t>(d)) << i << " / " << d;
    }
  }
}

TEST(Rtc, SourcesBringWhatTheyIncludeOnceWithTheirLines) {
  auto count = [](const std::string& text, const std::string& what) {
    int n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  const std::string loop = rtc::Source("rtc/loop.cuh");
  EXPECT_EQ(count(loop, "#line 1 \"src/rtc/prelude.cuh\"\n"), 1);
  EXPECT_EQ(count(loop, "#include"), 0);
  // behind an #include, the file's own lines go on with their numbers
  const size_t at = loop.rfind("#line ");
  EXPECT_EQ(loop.compare(at, 17, "#line 5 \"src/rtc/"), 0) << loop.substr(at, 40);
  EXPECT_EQ(count(rtc::Source({"rtc/loop.cuh", "rtc/block.cuh", "rtc/prelude.cuh"}), "struct boolean {"), 1);
  EXPECT_THROW(rtc::Source("rtc/none.cuh"), Error);
  rtc::TemplateArguments t;
  EXPECT_EQ(t.text(), "");
  EXPECT_EQ(t.Type(kFloat16).Type(-1).Value(int64_t{1} << 40).text(), "<mx::half, int, 1099511627776ll>");
}

TEST(Rtc, CacheKeepsWhatWasWrittenAndRefusesDamage) {
  char name[] = "/tmp/mxnet_rtc_XXXXXX";
  const std::string folder = std::string(mkdtemp(name)) + "/deep/er";
  std::string payload;
  EXPECT_FALSE(rtc::CacheRead(folder, "request", &payload));
  const std::string code("\0binary\n\xff", 9);
  ASSERT_TRUE(rtc::CacheWrite(folder, "request", code));
  ASSERT_TRUE(rtc::CacheRead(folder, "request", &payload));
  EXPECT_EQ(payload, code);
  EXPECT_FALSE(rtc::CacheRead(folder, "another request", &payload));
  const std::string path = folder + "/" + rtc::CacheName("request");
  for (long at : {0L, 9L, 33L, 40L}) {  // header, sizes, request, payload
    ASSERT_TRUE(rtc::CacheWrite(folder, "request", code));
    FILE* f = std::fopen(path.c_str(), "r+b");
    std::fseek(f, at, SEEK_SET);
    std::fputc('?', f);
    std::fclose(f);
    EXPECT_FALSE(rtc::CacheRead(folder, "request", &payload)) << "byte " << at;
  }
  ASSERT_TRUE(rtc::CacheWrite(folder, "request", code));
  ASSERT_EQ(truncate(path.c_str(), 35), 0);
  EXPECT_FALSE(rtc::CacheRead(folder, "request", &payload));
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_FALSE(rtc::CacheRead(folder, "request", &payload));
}

TEST(Rtc, LaunchWithoutDeviceIsAClearError) {
  const ScopedPart<rtc::LaunchHooks> kernels(GpuInterface().kernels, nullptr);
  RunContext run;
  run.ctx = Context::GPU(0);
  rtc::Arguments args;
  try {
    rtc::Launch(rtc::FindKernel("test", [](rtc::Kernel* k) { k->name = "nothing"; }), rtc::Cover(1), &args, run);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("no GPU support"), std::string::npos) << e.what();
  }
}

// What the CPU can and a GPU cannot: an operator that is not in this list needs a kernel for both.
TEST(Rtc, RecordsWithoutGpuKernel) {
  const std::set<std::string> known = {
      // made by passes for the CPU alone
      "_fused_expand_depthwise", "_fused_quantized_convolution", "_fused_quantized_dense", "_shuffle_channels"};
  int on_both = 0;
  for (const Op* op : Op::ListUnique()) {
    if (!op->KernelFor(DeviceType::kCPU)) continue;  // works on arrays
    if (op->KernelFor(DeviceType::kGPU))
      ++on_both;
    else
      EXPECT_EQ(known.count(op->name), 1u) << op->name << " has no GPU kernel";
  }
  EXPECT_GT(on_both, 600);
}

// ---- pointwise
TEST_F(DeviceKernels, EveryUnaryAndBinaryRowAlone) {
  // the table's functions over the values that tell them apart; operators only add names to them
  const Shape shape{3, 37};
  for (int row = 0; row < pointwise::kEndInteger; ++row) {
    const pointwise::Function f = pointwise::Forward(row);
    for (int compute : {pointwise::kF32, pointwise::kF64, pointwise::kI32, pointwise::kI64}) {
      if (!pointwise::HasFunction(f, compute)) continue;
      if (compute == pointwise::kF64 && row % 5) continue;  // the same text as kF32 but for the type
      if (compute == pointwise::kI64 && row % 3) continue;
      const int count = pointwise::OperandCount(f), dtype = pointwise::ComputeDType(compute);
      struct Data {
        std::vector<char> memory[4];
        TBlob blobs[4];
      };
      auto data = std::make_shared<Data>();
      std::mt19937 random(row);
      for (int k = 0; k < 4; ++k) {
        data->memory[k].resize(shape.Size() * 8);
        data->blobs[k].shape = shape;
        data->blobs[k].dtype = dtype;
        data->blobs[k].dptr = data->memory[k].data();
        for (int64_t i = 0; i < shape.Size(); ++i) {
          double v = std::uniform_real_distribution<double>(-4, 4)(random);
          if (compute >= pointwise::kI32) v = std::floor(v);
          if (compute < pointwise::kI32 && i % 40 == 7) v = NAN;
          if (compute < pointwise::kI32 && i % 40 == 11) v = k ? -INFINITY : INFINITY;
          if (i % 40 == 13) v = 0;
          WriteElement(data->blobs[k].dptr, dtype, i, v);
        }
      }
      const bool has_params = row > pointwise::kFirstParam && row < pointwise::kEndParam;
      auto run = [data, f, compute, count, has_params](DeviceType device, const TBlob& out) {
        const double params[3] = {2, 3, -1};
        const pointwise::Operand in[2] = {data->blobs[0], data->blobs[1]};
        RunContext where;
        where.ctx = {device, 0};
        pointwise::Execute(where, f, compute, in, count, count == 1 ? pointwise::kUnaryMasks : pointwise::kBinaryMasks,
                           has_params ? params : nullptr, out, OpReq::kWrite);
      };
      run(DeviceType::kCPU, data->blobs[2]);
      const Case c{std::string("row ") + pointwise::GetRow(row).name, {shape}, {dtype}, {}};
      Later(
          Name(c), 1, [run, data] { run(DeviceType::kGPU, data->blobs[3]); },
          [c, data, dtype] { ExpectNear(c, data->memory[3], data->memory[2], dtype, 1); });
    }
  }
}

TEST_F(DeviceKernels, PointwiseDtypesShapesAndRequests) {
  const Shape flat{515};
  for (int dtype : {kFloat32, kFloat64, kFloat16, kBfloat16, kUint8, kInt8, kInt32, kInt64}) {
    Check({"elemwise_add", {flat, flat}, {dtype}, {}});
    Check({"elemwise_mul", {flat, flat}, {dtype}, {}, OpReq::kAdd});
    Check({"_plus_scalar", {flat}, {dtype}, {{"scalar", "2"}}});
    Check({"relu", {flat}, {dtype}, {}, OpReq::kWrite, -3, 3, true});
  }
  for (int to : {kFloat32, kFloat64, kFloat16, kUint8, kInt8, kInt32, kInt64, kBool, kBfloat16})
    for (int from : {kFloat32, kFloat64, kFloat16, kBfloat16, kUint8, kInt32, kInt64, kBool})
      if ((to + from) % 2) Check({"Cast", {flat}, {from}, {{"dtype", DTypeName(to)}}});
  Check({"Cast", {flat}, {kFloat64}, {{"dtype", "float16"}}});
  // numbers that do not fit, and NaN
  const double odd[] = {1e10,  -1e10,  3e9,          2147483648.0, -2147483648.9, 1e19,    -1e19, 1.8e19,
                        300.7, -129.2, std::nan(""), HUGE_VAL,     -HUGE_VAL,     70000.0, 0.5};
  const Shape few{static_cast<int64_t>(sizeof(odd) / sizeof(odd[0]))};
  for (int from : {kFloat32, kFloat64, kFloat16}) {
    std::vector<char> data(static_cast<size_t>(few.Size()) * DTypeSize(from));
    for (int64_t i = 0; i < few.Size(); ++i) WriteElement(data.data(), from, i, odd[i]);
    for (int to : {kUint8, kInt8, kInt32, kInt64, kBool}) {
      Case c{"Cast", {few}, {from}, {{"dtype", DTypeName(to)}}};
      c.given[0] = data;
      Check(c);
    }
  }
  Check({"Cast", {flat}, {kFloat64}, {{"dtype", "bfloat16"}}});
  // broadcasting: along rows, columns, both; width 1 and more; more dimensions than are left after
  // merging
  Check({"broadcast_add", {{4, 8}, {4, 1}}, {kFloat32}, {}});
  Check({"broadcast_sub", {{4, 8}, {1, 8}}, {kFloat32}, {}});
  Check({"broadcast_mul", {{4, 1}, {1, 7}}, {kFloat32}, {}});
  Check({"broadcast_add", {{2, 3, 4, 5}, {1, 3, 1, 1}}, {kFloat32}, {}});
  Check({"broadcast_add", {{2, 3, 4, 5}, {2, 1, 4, 1}}, {kFloat16}, {}, OpReq::kAdd});
  Check({"broadcast_maximum", {{1, 3, 1, 5, 1, 2}, {2, 1, 4, 1, 3, 1}}, {kInt32}, {}});
  Check({"broadcast_add", {{3, 16}, {1}}, {kFloat32}, {}});
  Check({"_npi_add", {{3, 16}, {16}}, {kFloat16, kFloat32}, {}});
  Check({"_npi_multiply", {{3, 16}, {3, 1}}, {kInt32, kFloat32}, {}});
  Check({"_npi_true_divide", {{3, 16}, {3, 16}}, {kInt32, kInt64}, {}, OpReq::kWrite, 1, 9});
  Check({"_npi_greater", {{3, 16}, {1, 16}}, {kFloat32}, {}});
  Check({"_npi_bitwise_and", {{33}, {33}}, {kBool}, {}});
  Check({"_npi_add_scalar", {{33}}, {kInt32}, {{"scalar", "1.5"}, {"is_int", "0"}}});
  Check({"_rdiv_scalar", {{33}}, {kFloat32}, {{"scalar", "2"}}, OpReq::kWrite, 1, 3});
  Check({"clip", {{33}}, {kFloat16}, {{"a_min", "-1"}, {"a_max", "0.5"}}});
  Check({"_backward_div_lhs", {{4, 8}, {4, 8}, {1, 8}}, {kFloat32}, {}, OpReq::kWrite, 1, 3});
  Check({"_backward_div_rhs", {{4, 8}, {4, 8}, {4, 1}}, {kFloat32}, {}, OpReq::kWrite, 1, 3});
  Check({"_backward_tanh", {{65}, {65}}, {kBfloat16}, {}, OpReq::kAdd, -0.9, 0.9});
  Check({"_backward_gamma", {{65}, {65}, {65}}, {kFloat32}, {}, OpReq::kWrite, 0.5, 3});
  Check({"_backward_power_scalar", {{65}, {65}}, {kFloat32}, {{"scalar", "3"}}, OpReq::kWrite, 0.5, 2});
  Check({"add_n", {flat, flat, flat}, {kFloat16}, {{"num_args", "3"}}});
  Check({"zeros_like", {flat}, {kFloat32}, {}});
  Check({"ones_like", {flat}, {kInt64}, {}, OpReq::kAdd});
  Check({"_contrib_div_sqrt_dim", {{4, 9}}, {kFloat32}, {}});
}

// ---- reductions
TEST_F(DeviceKernels, Reductions) {
  for (const char* axis : {"None", "(0,)", "(1,)", "(2,)", "(0, 2)", "(1, 2)"})
    for (const char* op : {"sum", "max"}) Check({op, {{5, 6, 8}}, {kFloat32}, {{"axis", axis}}});
  for (const char* op : {"mean", "prod", "nansum", "nanprod", "min"})
    Check({op, {{5, 70}}, {kFloat32}, {{"axis", "1"}}, OpReq::kWrite, 0.5, 1.5});
  for (int dtype : {kFloat64, kFloat16, kBfloat16, kInt32, kInt64, kUint8, kInt8}) Check({"sum", {{3, 40}}, {dtype}, {{"axis", "1"}}});
  Check({"mean", {{3, 40}}, {kInt32}, {{"axis", "0"}}});
  Check({"sum", {{3, 40}}, {kFloat16}, {{"axis", "0"}}, OpReq::kAdd});
  Check({"sum", {{2, 66000}}, {kFloat32}, {{"axis", "1"}}}, 4);  // several blocks for one result
  Check({"norm", {{33, 1000}}, {kFloat32}, {}}, 4);
  Check({"norm", {{5, 20}}, {kFloat16}, {{"axis", "1"}, {"ord", "1"}}});
  Check({"sum", {{0, 3}}, {kFloat32}, {{"axis", "0"}}});  // nothing to sum: zeros
  Check({"_backward_sum", {{5}, {5, 6}}, {kFloat32}, {{"axis", "1"}}});
  Check({"_backward_mean", {{6}, {5, 6}}, {kFloat32}, {{"axis", "0"}}, OpReq::kAdd});
  Check({"_sum_like", {{4, 5, 6}, {5, 1}}, {kFloat32}, {}});
  Check({"broadcast_to", {{1, 5}}, {kFloat32}, {{"shape", "(4, 5)"}}});
  Check({"moments", {{6, 7}}, {kFloat32}, {{"axes", "(1,)"}}});
  Check({"L2Normalization", {{4, 9}}, {kFloat32}, {}});
  for (const char* mode : {"instance", "channel", "spatial"})
    for (int dtype : {kFloat32, kFloat64, kFloat16})
      Check({"_backward_L2Normalization", {{2, 3, 5}, {2, 3, 5}}, {dtype}, {{"mode", mode}}}, 4);
  Check({"_npi_any", {{4, 9}}, {kInt32}, {{"axis", "1"}}});
  Check({"_npi_all", {{4, 9}}, {kFloat32}, {{"axis", "1"}}});
  Check({"argmax", {{4, 9}}, {kFloat32}, {{"axis", "1"}}});
  Check({"argmin", {{4, 9, 3}}, {kInt32}, {{"axis", "1"}}});
  Check({"argmax", {{300}}, {kFloat16}, {}, OpReq::kWrite, -1, 1});
  // several results for each thread; with several blocks for one result; both with addresses that
  // do not permit that
  for (bool misaligned : {false, true})
    for (const Shape& shape : {Shape{70, 48}, Shape{3000, 16}, Shape{3, 700, 16}}) {
      const char* axis = shape.ndim() == 3 ? "1" : "0";
      for (int dtype : {kFloat32, kFloat16, kInt8}) Check({"sum", {shape}, {dtype}, {{"axis", axis}}, OpReq::kWrite, -3, 3, misaligned}, 4);
      Check({"argmax", {shape}, {kBfloat16}, {{"axis", axis}}, OpReq::kWrite, -3, 3, misaligned});
    }
  Check({"max", {{3, 20, 4, 5}}, {kFloat32}, {{"axis", "(0, 2)"}}});  // kept and reduced dimensions in turns
  Check({"sum", {{6, 5, 4, 8}}, {kFloat16}, {{"axis", "(1, 3)"}}});
  Check({"argmin", {{2, 70000}}, {kFloat32}, {{"axis", "1"}}});  // positions merged between blocks
  Check({"argmax", {{66000}}, {kUint8}, {}});
  for (const char* op : {"nansum", "norm"})
    Check({op, {{40000, 4}}, {kFloat32}, {{"axis", "0"}}}, 4);  // what is done to elements is done once
}

// ---- fills and copies
TEST_F(DeviceKernels, FillsAndCopies) {
  for (int dtype : {kFloat32, kFloat16, kInt64, kUint8}) {
    Check({"_full", {}, {}, {{"shape", "(3, 5)"}, {"value", "2.5"}, {"dtype", DTypeName(dtype)}}});
    Check({"_arange", {}, {}, {{"start", "1"}, {"stop", "9"}, {"step", "0.5"}, {"repeat", "2"}, {"dtype", DTypeName(dtype)}}});
  }
  Check({"_zeros", {}, {}, {{"shape", "(7,)"}}});
  Check({"_eye", {}, {}, {{"N", "4"}, {"M", "6"}, {"k", "-1"}}});
  Check({"_linspace", {}, {}, {{"start", "0"}, {"stop", "1"}, {"num", "11"}}});
  for (int dtype : {kFloat32, kFloat16, kFloat64, kInt8}) {
    Check({"transpose", {{3, 4, 5}}, {dtype}, {{"axes", "(2, 0, 1)"}}});
    Check({"Concat", {{2, 3}, {2, 5}}, {dtype}, {{"num_args", "2"}, {"dim", "1"}}});
    Check({"slice", {{6, 7}}, {dtype}, {{"begin", "(1, 2)"}, {"end", "(5, 7)"}, {"step", "(2, 1)"}}});
  }
  for (bool misaligned : {false, true})  // through tiles, in pairs of narrow elements where that is possible
    for (int dtype : {kFloat32, kFloat16, kFloat64, kInt8}) {
      Check({"transpose", {{40, 70}}, {dtype}, {{"axes", "(1, 0)"}}, OpReq::kWrite, -3, 3, misaligned});
      Check({"transpose", {{2, 66, 3, 20}}, {dtype}, {{"axes", "(0, 2, 3, 1)"}}, OpReq::kWrite, -3, 3, misaligned});
    }
  for (int dtype : {kBfloat16, kUint8}) Check({"transpose", {{2, 33, 9, 5}}, {dtype}, {{"axes", "(3, 0, 2, 1)"}}});
  Check({"transpose", {{5, 9, 11, 10}}, {kFloat32}, {{"axes", "(3, 1, 2, 0)"}}});  // too narrow along one side
  Check({"slice", {{60, 70}}, {kFloat32}, {{"begin", "(1, 2)"}, {"end", "(58, 69)"}, {"step", "(2, 1)"}}});
  Check({"Reshape", {{6, 8}}, {kFloat32}, {{"shape", "(-1, 4)"}}});
  Check({"Flatten", {{2, 3, 4}}, {kFloat32}, {}, OpReq::kWrite, -3, 3, true});
  Check({"SwapAxis", {{3, 4, 5}}, {kFloat32}, {{"dim1", "0"}, {"dim2", "2"}}});
  Check({"stack", {{2, 3}, {2, 3}}, {kFloat32}, {{"num_args", "2"}, {"axis", "1"}}});
  Check({"SliceChannel", {{2, 6}}, {kFloat32}, {{"num_outputs", "3"}, {"axis", "1"}}});
  Check({"_backward_slice", {{2, 3}, {4, 6}}, {kFloat32}, {{"begin", "(1, 0)"}, {"end", "(3, 3)"}}});
  Check({"reverse", {{4, 5}}, {kFloat32}, {{"axis", "(1,)"}}});
  Check({"tile", {{2, 3}}, {kFloat32}, {{"reps", "(2, 2)"}}});
  Check({"repeat", {{2, 3}}, {kFloat32}, {{"repeats", "2"}, {"axis", "1"}}});
  Check({"depth_to_space", {{1, 8, 2, 3}}, {kFloat32}, {{"block_size", "2"}}});
}

// ---- layers, updates, random numbers
TEST_F(DeviceKernels, SoftmaxAndActivations) {
  for (int dtype : {kFloat32, kFloat64, kFloat16, kBfloat16}) {
    Check({"softmax", {{4, 37}}, {dtype}, {}});
    Check({"log_softmax", {{3, 5, 4}}, {dtype}, {{"axis", "1"}, {"temperature", "2"}}});
  }
  for (int dtype : {kFloat32, kFloat16}) {
    Check({"masked_softmax", {{4, 37}, {4, 37}}, {dtype, kBool}, {}, OpReq::kWrite, -1, 2});
    Check({"masked_log_softmax", {{3, 5, 4}, {5, 1}}, {dtype, kBool}, {{"axis", "1"}}, OpReq::kWrite, -1, 2});
    Check({"_backward_masked_softmax", {{4, 37}, {1, 37}, {4, 37}}, {dtype, kBool, dtype}, {}, OpReq::kWrite, -0.5, 1}, 2);
    Check({"_backward_masked_log_softmax", {{4, 37}, {4, 37}, {4, 37}}, {dtype, kBool, dtype}, {}, OpReq::kWrite, -0.5, 1}, 4);
  }
  Check({"softmin", {{2, 900}}, {kFloat32}, {}});
  // rows in registers, by one thread to a whole block, and too long for that
  for (int64_t length : {8, 40, 200, 1000, 8200, 33000})
    for (int dtype : {kFloat32, kFloat16}) {
      const Shape s{length > 1000 ? 1 : 3, length};
      const bool misaligned = length == 200;
      Check({"softmax", {s}, {dtype}, {}, OpReq::kWrite, -3, 3, misaligned}, 2);
      Check({"log_softmax", {s}, {dtype}, {{"temperature", "0.5"}}}, 4);
      Check({"masked_softmax", {s, s}, {dtype, kBool}, {}, OpReq::kWrite, -1, 2, misaligned}, 2);
      Check({"_backward_softmax", {s, s}, {dtype}, {}, OpReq::kWrite, 0, 1, misaligned}, 40);
      Check({"_backward_masked_log_softmax", {s, s, s}, {dtype, kBool, dtype}, {}, OpReq::kWrite, -0.5, 1}, 40);
    }
  Check({"softmax", {{40, 64}, {40}}, {kFloat32, kInt32}, {{"use_length", "1"}}, OpReq::kWrite, 0, 64});
  Check({"softmax", {{4, 9}, {4}}, {kFloat32, kInt32}, {{"use_length", "1"}}, OpReq::kWrite, 1, 9});
  Check({"softmax", {{4, 9}}, {kFloat16}, {{"dtype", "float32"}}});
  Check({"_backward_softmax", {{4, 37}, {4, 37}}, {kFloat32}, {}, OpReq::kWrite, 0, 1});
  Check({"_backward_log_softmax", {{4, 70, 3}, {4, 70, 3}}, {kFloat16}, {{"axis", "1"}}, OpReq::kWrite, -1, 0}, 4);
  for (const char* type : {"relu", "sigmoid", "tanh", "softrelu", "softsign"}) {
    Check({"Activation", {{5, 13}}, {kFloat32}, {{"act_type", type}}});
    Check({"_backward_Activation", {{5, 13}, {5, 13}}, {kFloat32}, {{"act_type", type}}, OpReq::kWrite, -0.9, 0.9});
  }
}

TEST_F(DeviceKernels, Updates) {
  const Shape s{29};
  for (int dtype : {kFloat32, kFloat16, kFloat64}) {
    Check({"sgd_update", {s, s}, {dtype}, {{"lr", "0.1"}, {"wd", "0.01"}, {"clip_gradient", "1"}}});
    Check({"sgd_mom_update", {s, s, s}, {dtype}, {{"lr", "0.1"}, {"momentum", "0.9"}}});
  }
  Check({"mp_sgd_mom_update", {s, s, s, s}, {kFloat16, kFloat16, kFloat32, kFloat32}, {{"lr", "0.1"}, {"momentum", "0.9"}}});
  Check({"nag_mom_update", {s, s, s}, {kFloat32}, {{"lr", "0.1"}, {"momentum", "0.9"}}});
  Check({"adam_update", {s, s, s, s}, {kFloat32}, {{"lr", "0.1"}}, OpReq::kWrite, 0.1, 2});
  Check({"rmsprop_update", {s, s, s}, {kFloat32}, {{"lr", "0.1"}}, OpReq::kWrite, 0.1, 2});
  Check({"rmspropalex_update", {s, s, s, s, s}, {kFloat32}, {{"lr", "0.1"}}, OpReq::kWrite, 0.1, 0.4}, 50);
  Check({"ftrl_update", {s, s, s, s}, {kFloat32}, {{"lr", "0.1"}}, OpReq::kWrite, 0.1, 2}, 10);
  Check({"ftml_update", {s, s, s, s, s}, {kFloat32}, {{"lr", "0.1"}, {"t", "2"}}, OpReq::kWrite, 0.1, 2}, 10);
  Check({"signsgd_update", {s, s}, {kFloat32}, {{"lr", "0.1"}}});
  Check({"signum_update", {s, s, s}, {kFloat32}, {{"lr", "0.1"}, {"momentum", "0.9"}}});
}

TEST_F(DeviceKernels, RandomNumbersAreTheCpus) {
  for (const char* dtype : {"float32", "float64", "float16"}) {
    Check({"_random_uniform", {}, {}, {{"shape", "(103,)"}, {"low", "-1"}, {"high", "2"}, {"dtype", dtype}}});
    Check({"_random_normal", {}, {}, {{"shape", "(103,)"}, {"loc", "1"}, {"scale", "2"}, {"dtype", dtype}}});
    Check({"_random_exponential", {}, {}, {{"shape", "(103,)"}, {"lam", "2"}, {"dtype", dtype}}});
  }
  Check({"_random_randint", {}, {}, {{"shape", "(103,)"}, {"low", "-5"}, {"high", "1000000"}, {"dtype", "int32"}}});
  Check({"_random_normal_like", {{7, 3}}, {kFloat32}, {}});
  for (const char* dtype : {"float32", "float64", "float16"}) {
    Check({"_random_gamma", {}, {}, {{"shape", "(103,)"}, {"alpha", "0.5"}, {"beta", "2"}, {"dtype", dtype}}});
    Check({"_random_poisson", {}, {}, {{"shape", "(103,)"}, {"lam", "20"}, {"dtype", dtype}}});
    for (const char* p : {"0.1", "0.6"})
      Check({"_random_binomial", {}, {}, {{"shape", "(103,)"}, {"n", "40"}, {"p", p}, {"dtype", dtype}}});
  }
  Check({"_random_negative_binomial", {}, {}, {{"shape", "(103,)"}, {"k", "3"}, {"p", "0.4"}}});
  Check({"_random_generalized_negative_binomial_like", {{7, 3}}, {kFloat32}, {{"mu", "3"}, {"alpha", "0.4"}}});
  for (const char* op : {"_sample_uniform", "_sample_normal", "_sample_gamma", "_sample_generalized_negative_binomial"})
    Check({op, {{5}, {5}}, {kFloat32}, {{"shape", "(7,)"}}, OpReq::kWrite, 0.5, 3});
  Check({"_sample_exponential", {{5}}, {kFloat64}, {{"shape", "(7,)"}}, OpReq::kWrite, 0.5, 3});
  Check({"_sample_poisson", {{5}}, {kInt32}, {{"shape", "(7,)"}}, OpReq::kWrite, 0.5, 30});
  for (int dtype : {kFloat32, kFloat16, kFloat64}) {
    Check({"_sample_multinomial", {{5, 37}}, {dtype}, {{"shape", "(9,)"}, {"get_prob", "1"}}, OpReq::kWrite, 0.1, 1}, 2);
    Check({"_backward_sample_multinomial", {{5, 9}, {5, 37}, {5, 9}}, {dtype, dtype, kInt32}, {}, OpReq::kWrite, 1, 37}, 4);
    Check({"_sample_categorical", {{5, 37}}, {dtype}, {{"shape", "(9,)"}, {"get_prob", "1"}}, OpReq::kWrite, 0.1, 1}, 2);
    Check({"_backward_sample_categorical", {{5, 9}, {5, 37}, {5, 9}}, {dtype, dtype, kInt32}, {}, OpReq::kWrite, 1, 37}, 4);
    Check({"_npx__random_multinomial", {{5}, {5, 7}}, {kInt32, dtype}, {{"shape", "(9,)"}}, OpReq::kWrite, 1, 40});
  }
  Check({"_sample_binomial", {{5}, {5}}, {kFloat32}, {{"shape", "(7,)"}}, OpReq::kWrite, 0.1, 0.9});
  for (const char* range : {"50", "9"}) Check({"_sample_unique_zipfian", {}, {}, {{"range_max", range}, {"shape", "(7, 5)"}}});
}

TEST_F(DeviceKernels, RandomNumbersOfNumPyAreTheCpus) {
  const AttrDict none = {{"loc", "None"}, {"scale", "None"}, {"size", "(4, 3, 5)"}};
  for (const char* op : {"_npi_normal", "_npi_laplace", "_npi_gumbel", "_npi_logistic"}) {
    Check({op, {{3, 1}, {5}}, {kFloat32, kInt32}, none, OpReq::kWrite, 1, 3}, 4);
    Check({op, {{3, 5}}, {kFloat64}, {{"loc", "None"}, {"scale", "2"}}, OpReq::kWrite, 1, 3}, 4);
    Check({op, {}, {}, {{"loc", "1"}, {"scale", "2"}, {"size", "(103,)"}}}, 4);
  }
  for (const char* dtype : {"float32", "float64", "float16"}) {
    Check({"_npi_uniform", {{5}}, {kFloat16}, {{"low", "0"}, {"high", "None"}, {"size", "(7, 5)"}, {"dtype", dtype}}, OpReq::kWrite, 1, 3},
          4);
    Check(
        {"_npi_gamma", {{5}}, {kFloat32}, {{"shape", "None"}, {"scale", "2"}, {"size", "(7, 5)"}, {"dtype", dtype}}, OpReq::kWrite, 0.5, 3},
        4);
  }
  for (int dtype : {kFloat32, kFloat64, kFloat16})
    for (double most : {3.0, 60.0})
      Check({"_backward_npi_gamma", {{103}, {103}}, {kFloat32, dtype}, {}, OpReq::kWrite, 0.1, most}, dtype == kFloat64 ? 1e5 : 4);
  for (const char* op : {"_npi_exponential", "_npi_rayleigh"})
    Check({op, {{1}}, {kFloat32}, {{"scale", "None"}, {"size", "(7, 5)"}}, OpReq::kWrite, 1, 3}, 4);
  for (const char* op : {"_npi_pareto", "_npi_powerd", "_npi_weibull"})
    Check({op, {{5}}, {kFloat32}, {{"size", "(7, 5)"}}, OpReq::kWrite, 1, 3}, 8);
  Check({"_npi_normal_n", {{3, 1}, {5}}, {kFloat32}, {{"loc", "None"}, {"scale", "None"}, {"size", "(2,)"}}, OpReq::kWrite, 1, 3}, 4);
  for (const char* dtype : {"bool", "float32", "int32"})
    for (const char* logit : {"0", "1"})
      Check({"_npi_bernoulli",
             {{5}},
             {kFloat32},
             {{"prob", "None"}, {"logit", "None"}, {"is_logit", logit}, {"size", "(7, 5)"}, {"dtype", dtype}},
             OpReq::kWrite,
             0.1,
             0.9});
  for (const char* replace : {"0", "1"}) {
    Check({"_npi_choice", {}, {}, {{"a", "100"}, {"size", "(70,)"}, {"replace", replace}}});
    Check({"_npi_choice",
           {{37}},
           {kFloat32},
           {{"a", "37"}, {"size", "(7, 3)"}, {"replace", replace}, {"weighted", "1"}},
           OpReq::kWrite,
           0.1,
           1});
  }
  Check({"_npi_multinomial", {{4}}, {kFloat32}, {{"n", "50"}, {"pvals", "None"}, {"size", "(9,)"}}, OpReq::kWrite, 0.05, 0.3});
}

TEST_F(DeviceKernels, ShufflesAreSomePermutation) {
  const Case c{"_shuffle", {{300, 2}}, {kInt32}, {}, OpReq::kWrite, -1000, 1000};
  auto got = std::make_shared<Result>();
  Later(
      Name(c), 3, [c, got] { *got = RunKernel(c, DeviceType::kGPU); },
      [got] {
        const auto* in = reinterpret_cast<const std::pair<int32_t, int32_t>*>(got->inputs[0].data());
        const auto* out = reinterpret_cast<const std::pair<int32_t, int32_t>*>(got->bytes[0].data());
        EXPECT_FALSE(std::equal(in, in + 300, out));
        using Rows = std::multiset<std::pair<int32_t, int32_t>>;
        EXPECT_EQ(Rows(in, in + 300), Rows(out, out + 300));
      });
}

// ---- fused graphs
TEST_F(DeviceKernels, FusedGraphs) {
  // tanh(a * b + 2) * sigmoid(c), c broadcast
  for (int dtype : {kFloat32, kFloat16, kFloat64}) {
    const NodePtr a = MakeVariable("a"), b = MakeVariable("b"), c = MakeVariable("c");
    const NodeEntry product = MakeOp("elemwise_mul", {{a, 0, 0}, {b, 0, 0}});
    const NodeEntry shifted = MakeOp("_plus_scalar", {product}, {{"scalar", "2"}});
    const NodeEntry left = MakeOp("Activation", {shifted}, {{"act_type", "tanh"}});
    const NodeEntry result = MakeOp("broadcast_mul", {left, MakeOp("sigmoid", {{c, 0, 0}})});
    auto graph = std::make_shared<Symbol>();
    graph->outputs = {result};
    auto attrs = std::make_shared<Attrs>(*MakeAttrs(Op::Get("_fused_pointwise"), {{"num_args", "3"}}));
    attrs->subgraphs = {graph};
    const Shape shapes[3] = {{4, 10}, {4, 10}, {1, 10}};
    std::vector<std::vector<char>> memory(5);
    std::vector<TBlob> in(3);
    TBlob out[2];
    std::mt19937 random(5);
    for (int i = 0; i < 5; ++i) {
      TBlob& t = i < 3 ? in[i] : out[i - 3];
      t.shape = i < 3 ? shapes[i] : shapes[0];
      t.dtype = dtype;
      memory[i].resize(t.Bytes() + 32);
      t.dptr = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory[i].data()) + 31) / 32 * 32);
      for (int64_t k = 0; i < 3 && k < t.Size(); ++k) WriteElement(t.dptr, dtype, k, std::uniform_real_distribution<double>(-2, 2)(random));
    }
    static const OpReq req[1] = {OpReq::kWrite};
    for (DeviceType device : {DeviceType::kCPU, DeviceType::kGPU}) {
      KernelArgs args;
      args.attrs = attrs.get();
      args.in = Span<const TBlob>(in);
      args.out = Span<const TBlob>(&out[device == DeviceType::kGPU], 1);
      args.req = Span<const OpReq>(req, 1);
      args.run.ctx = {device, 0};
      const int before = EmulatedDevice::launches();
      EmulatedDevice emulated;
      (*attrs->op->KernelFor(device))(args);
      EXPECT_EQ(EmulatedDevice::launches() - before, device == DeviceType::kGPU ? 1 : 0) << "the whole graph is one kernel";
    }
    const char *x = static_cast<char*>(out[1].dptr), *y = static_cast<char*>(out[0].dptr);
    ExpectNear({"_fused_pointwise", {}, {dtype}, {}}, std::vector<char>(x, x + out[1].Bytes()), std::vector<char>(y, y + out[0].Bytes()),
               dtype, 1);
  }
}

}  // namespace
}  // namespace mxnet
