#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

const Rules& SignalRules() {
  static const Rules rules = {};
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
