/* Strings in the domain of onnxruntime. */
#ifndef MXNET_ONNX_CONVERT_TEXT_TEXT_TOKENS_H_
#define MXNET_ONNX_CONVERT_TEXT_TEXT_TOKENS_H_

#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

Rules TokenRules();     // part of TextRules
Rules DecodingRules();  // part of TextRules

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_TEXT_TEXT_TOKENS_H_
