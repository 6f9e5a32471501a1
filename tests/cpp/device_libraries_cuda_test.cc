/* What can be asked of NVIDIA's libraries without a device: whether cuDNN finishes the graphs that describe convolutions, and that both libraries are set. */
#include <gtest/gtest.h>

#include "operator/library/convolution.h"
#include "operator/library/product.h"

namespace mxnet {
namespace {

using library::ConvProblem;

TEST(CudaLibraries, AreSet) {
  EXPECT_NE(library::GetProductLibrary(), nullptr);
  EXPECT_NE(library::GetEngineLibrary(), nullptr);
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
            p.channels_last = last;
            p.dims.batch = 8, p.dims.channels = 32, p.dims.filters = 64, p.dims.groups = 2;
            for (int i = 3 - spatial; i < 3; ++i) p.dims.in[i] = 56, p.dims.kernel[i] = 3, p.dims.pad[i] = 2, p.dims.dilate[i] = 2, p.dims.stride[i] = 2, p.dims.out[i] = 28;
            p.addend = behind & 1, p.bias = behind & 2, p.relu = behind & 4;
            p.bias_dtype = behind == 2 ? kFloat32 : dtype;
            EXPECT_NO_THROW(library::CheckConvolutionGraph(p)) << p.Text();
          }
}

TEST(CudaLibraries, WrongGraphsAreClearErrors) {
  ConvProblem p;
  p.dims.batch = 1, p.dims.channels = 3, p.dims.filters = 4;
  p.dims.kernel[1] = 3, p.dims.in[1] = 5, p.dims.out[1] = 5;   // 3 would be right
  try {
    library::CheckConvolutionGraph(p);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("[forward convolution, float32, NCHW"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace mxnet
