/* The subgraphs of a search, and what they read and give in each step. */
#ifndef MXNET_ONNX_CONTROL_SEARCH_MODELS_H_
#define MXNET_ONNX_CONTROL_SEARCH_MODELS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "onnx/control/control.h"
#include "onnx/control/search.h"

namespace mxnet {
namespace onnx {

/*
 * A model of texts with caches. Caches have a row for each example at first, since all beams of an
 * example begin alike, and for each beam from the second step on. They are handed from step to step
 * as they are; rows are moved only where beams go on from others.
 */
class TextModel {
 public:
  TextModel(const Control& control, const SearchSettings& settings) : control_(control), settings_(settings) {}
  virtual ~TextModel() = default;
  TextModel(const TextModel&) = delete;
  TextModel& operator=(const TextModel&) = delete;
  /* What each example begins with; known before Start. */
  const std::vector<Tokens>& begin() const { return begin_; }
  /* Scores behind the beginning: (batch, steps, tokens). */
  virtual Value Start() = 0;
  /* Scores behind one more token of each row: (rows, steps, tokens). `from`: the row before that
   * each row goes on from. */
  virtual Value Step(const std::vector<Tokens>& rows, const std::vector<int64_t>& from) = 0;

 protected:
  /* Integers as the graph's input has them. */
  Value Ints(const Shape& shape, const std::vector<int32_t>& numbers, const ValueInfo& info) const;
  /* The last token of each row. */
  Value LastTokens(const std::vector<Tokens>& rows, const ValueInfo& info) const;
  /* A cache without steps, of `rows`. `batch`, `steps`: which dimensions these are. */
  Value Empty(const ValueInfo& info, int64_t rows, int batch, int steps) const;
  /* Runs a graph on these inputs, in their order. `into`: arrays for outputs, by their names. */
  std::vector<Value> Run(const GraphProto& graph, std::vector<Value> inputs, const std::map<std::string, NDArray>& into = {}) const;
  /* Rows of all caches, along `axis`. */
  void Move(const std::vector<int64_t>& rows, int axis, std::vector<Value>* caches) const;
  /* Moves caches that Start or Step made. */
  void Follow(const std::vector<int64_t>& from, int axis);
  void CheckCounts(const char* name, const GraphProto& graph, size_t inputs, size_t outputs) const;

  const Control& control_;
  const SearchSettings& settings_;
  std::vector<Tokens> begin_;
  std::vector<Value> caches_;
  bool has_beams_ = false;  // the caches have a row for each beam
};

/* By ModelType. */
std::unique_ptr<TextModel> MakeTextModel(const Control& control, const SearchSettings& settings);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONTROL_SEARCH_MODELS_H_
