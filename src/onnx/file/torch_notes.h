/* What PyTorch's exporter notes about nodes, beyond their attributes. */
#ifndef MXNET_ONNX_FILE_TORCH_NOTES_H_
#define MXNET_ONNX_FILE_TORCH_NOTES_H_

namespace mxnet {
namespace onnx {

/* The row of an embedding that is not trained, as an attribute of Gather. No file has an attribute
 * of this name: names have no dots. */
constexpr char kPaddingAttribute[] = "torch.padding_idx";

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_FILE_TORCH_NOTES_H_
