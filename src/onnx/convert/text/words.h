/* com.microsoft's operators on words in letters, and on texts that are guessed and checked. */
#ifndef MXNET_ONNX_CONVERT_TEXT_WORDS_H_
#define MXNET_ONNX_CONVERT_TEXT_WORDS_H_

#include "onnx/convert.h"

namespace mxnet {
namespace onnx {

void ConvertWordConvEmbedding(Call& c);
void ConvertBifurcationDetector(Call& c);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_TEXT_WORDS_H_
