/* Graphs that nodes of a model hold, as models of their own: the decoder of a search, which can be
 * trained while the search cannot. */
#ifndef MXNET_ONNX_CONTROL_INNER_H_
#define MXNET_ONNX_CONTROL_INNER_H_

#include <memory>
#include <string>

#include "onnx/file/model.h"

namespace mxnet {
namespace onnx {

/*
 * The graph that the node called `node` (empty: the only one that has it) holds as its attribute
 * `attribute`, at any depth. Constants of graphs around it that it reads are its own, and values
 * that nodes compute there are inputs behind its own. Names are those of the file, without what the
 * reader has added where graphs have a name in common. Throws Error(kValue) with what there is.
 */
std::shared_ptr<const Model> InnerModel(const Model& model, const std::string& attribute, const std::string& node);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONTROL_INNER_H_
