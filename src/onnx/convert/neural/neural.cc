#include "onnx/convert/neural/window.h"

namespace mxnet {
namespace onnx {

const Rules& NeuralRules() {
  static const Rules rules = {
      {"", "Conv", 1, kNewest, ConvertConv, nullptr},
      {"", "ConvTranspose", 1, kNewest, ConvertConvTranspose, nullptr},
      {"", "DeformConv", 19, kNewest, ConvertDeformConv, nullptr},
      {"", "MaxPool", 1, kNewest, ConvertMaxPool, nullptr},
      {"", "AveragePool", 1, kNewest, ConvertAveragePool, nullptr},
      {"", "LpPool", 2, kNewest, ConvertLpPool, nullptr},
      {"", "GlobalAveragePool", 1, kNewest, ConvertGlobalPool, "avg"},
      {"", "GlobalMaxPool", 1, kNewest, ConvertGlobalPool, "max"},
      {"", "GlobalLpPool", 2, kNewest, ConvertGlobalLpPool, nullptr},
      {"", "MaxUnpool", 9, kNewest, ConvertMaxUnpool, nullptr},
      {"", "Col2Im", 18, kNewest, ConvertCol2Im, nullptr},
      {"", "Upsample", 7, kNewest, ConvertUpsample, nullptr},
      {"", "Resize", 10, 10, ConvertResize10, nullptr},
      {"", "Resize", 11, kNewest, ConvertResize, nullptr},
      {"", "DepthToSpace", 1, kNewest, ConvertDepthToSpace, nullptr},
      {"", "SpaceToDepth", 1, kNewest, ConvertSpaceToDepth, nullptr},
      {"", "GridSample", 16, kNewest, ConvertGridSample, nullptr},
      {"", "AffineGrid", 20, kNewest, ConvertAffineGrid, nullptr},
      {"", "LRN", 1, kNewest, ConvertLRN, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
