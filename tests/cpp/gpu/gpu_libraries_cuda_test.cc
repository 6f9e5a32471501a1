/* What can be asked of NVIDIA's libraries without a device: whether cuDNN finishes the graphs that
 * describe convolutions, and that both libraries are set. */
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/device/device_interface.h"
#include "base/dtype.h"
#include "mxnet/env.h"
#include "operator/gpu_library/attention.h"
#include "operator/gpu_library/convolution.h"
#include "operator/gpu_library/gemm.h"

namespace mxnet {
namespace {

using gpu_library::ConvProblem;

TEST(CudaLibraries, AreSet) {
  const DeviceInterface& gpu = GpuInterface();
  EXPECT_TRUE(gpu.query && gpu.streams && gpu.memory && gpu.copies);
  EXPECT_TRUE(gpu.kernels && gpu.user_modules && gpu.graphs);
  EXPECT_TRUE(gpu.gemm && gpu.convolution && gpu.attention && gpu.collectives);
  EXPECT_TRUE(DeviceInterfaceOf(DeviceType::kCPUPinned).memory);
  EXPECT_NE(gpu.streams->order, nullptr);
}

// cuDNN knows a GPU that is told in numbers, and its engines check the graph against it when they
// find a driver's library, if only the toolkit's stub.
bool LoadDriver() {
  return dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) || dlopen("/usr/local/cuda/lib64/stubs/libcuda.so", RTLD_NOW | RTLD_GLOBAL);
}

TEST(CudaLibraries, HopperHasEnginesForConvolutions) {
  if (!LoadDriver()) GTEST_SKIP() << "no libcuda.so.1, and no stub of it";
  struct Layer {
    int64_t channels, filters, size, kernel, stride;
  };
  for (int dtype : {kFloat16, kBfloat16, kFloat32})  // of ResNet-50
    for (const Layer& l : {Layer{3, 64, 224, 7, 2},
                           {64, 64, 56, 1, 1},
                           {64, 64, 56, 3, 1},
                           {256, 512, 56, 1, 2},
                           {512, 512, 14, 3, 2},
                           {512, 2048, 7, 1, 1}})
      for (int pass = 0; pass < 3; ++pass)
        for (int behind : {0, 6, 7}) {
          if (pass && behind) continue;
          ConvProblem p;
          p.pass = static_cast<nn::ConvPass>(pass);
          p.dtype = p.bias_dtype = dtype;
          p.channels_last = dtype != kFloat32;
          p.dims.batch = 32, p.dims.channels = l.channels, p.dims.filters = l.filters, p.dims.groups = 1;
          for (int i = 1; i < 3; ++i)
            p.dims.in[i] = l.size, p.dims.kernel[i] = l.kernel, p.dims.pad[i] = l.kernel / 2, p.dims.dilate[i] = 1,
            p.dims.stride[i] = l.stride, p.dims.out[i] = (l.size + 2 * (l.kernel / 2) - l.kernel) / l.stride + 1;
          p.addend = behind & 1, p.bias = behind & 2, p.relu = behind & 4;
          const auto engines = gpu_library::HopperEngines(p);
          const gpu_library::ConvSettings settings = gpu_library::SettingsFor(p, -1, 1024, Env::Get());
          EXPECT_TRUE(std::any_of(engines.begin(), engines.end(),
                                  [&](const gpu_library::EngineConfig& c) { return gpu_library::Permitted(c, settings); }))
              << p.Text() << ": " << engines.size();
        }
}

TEST(CudaLibraries, HopperHasEnginesForAttention) {
  const bool driver = LoadDriver();
  for (int dtype : {kFloat16, kBfloat16})
    for (int pass = 0; pass < 6; ++pass)  // from 3 on with dropout
      for (int64_t width : {64, 128, 40})
        for (int mask = 0; mask < 5; ++mask)
          for (int parts = 1; parts <= 3; ++parts) {  // of an interleaved projection: separate arrays, keys and values, queries too
            const int64_t columns = parts == 2 || (parts == 1 && mask % 2) ? 77 : 384;
            gpu_library::AttentionProblem p;
            p.backward = pass % 3 == 2, p.statistics = pass % 3 == 1, p.dropout = pass < 3 ? 0 : 0.1f;
            p.dtype = dtype, p.batch = 8, p.heads = 12, p.rows = 384, p.columns = columns, p.width = p.value_width = width;
            p.LieSeparately();
            if (parts > 1) {
              auto interleaved = [&](int64_t count) {
                return gpu_library::AttentionStrides{12 * count * width, count * width, 8 * 12 * count * width};
              };
              p.key = p.value = interleaved(parts), p.query = interleaved(parts == 3 ? 3 : 1), p.output = interleaved(1);
            }
            p.mask = mask > 0, p.mask_dtype = mask == 2 ? dtype : kFloat32;
            if (mask == 3) p.alignment = 2;
            if (mask == 1) p.mask_dims[3] = columns;
            if (mask > 1) p.mask_dims[0] = 8, p.mask_dims[1] = 12, p.mask_dims[2] = mask == 3 ? 1 : 384, p.mask_dims[3] = columns;
            std::vector<gpu_library::EngineConfig> engines;
            EXPECT_NO_THROW(engines = gpu_library::HopperEngines(p)) << p.Text();
            if (driver && mask != 3) {
              EXPECT_FALSE(engines.empty()) << p.Text();
            }
          }
}

TEST(CudaLibraries, GraphsAreWellFormed) {
  for (int dtype : {kFloat32, kFloat64, kFloat16, kBfloat16})
    for (int pass = 0; pass < 3; ++pass)
      for (int behind = 0; behind < (pass == 0 && dtype != kFloat64 ? 8 : 1); ++behind)
        for (bool last : {false, true})
          for (int spatial : {2, 3}) {
            ConvProblem p;
            p.pass = static_cast<nn::ConvPass>(pass);
            p.dtype = dtype;
            if (last) p.alignment = static_cast<int>(DTypeSize(dtype));  // wider tensors of the graph lie as their own type wants
            p.channels_last = last;
            p.dims.batch = 8, p.dims.channels = 32, p.dims.filters = 64, p.dims.groups = 2;
            for (int i = 3 - spatial; i < 3; ++i)
              p.dims.in[i] = 56, p.dims.kernel[i] = 3, p.dims.pad[i] = 2, p.dims.dilate[i] = 2, p.dims.stride[i] = 2, p.dims.out[i] = 28;
            p.addend = behind & 1, p.bias = behind & 2, p.relu = behind & 4;
            p.bias_dtype = behind == 2 ? kFloat32 : dtype;
            EXPECT_NO_THROW(gpu_library::CheckConvolutionGraph(p)) << p.Text();
          }
}

TEST(CudaLibraries, WrongGraphsAreClearErrors) {
  ConvProblem p;
  p.dims.batch = 1, p.dims.channels = 3, p.dims.filters = 4;
  p.dims.kernel[1] = 3, p.dims.in[1] = 5, p.dims.out[1] = 5;  // 3 would be right
  try {
    gpu_library::CheckConvolutionGraph(p);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("[forward convolution, float32, NCHW"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace mxnet
