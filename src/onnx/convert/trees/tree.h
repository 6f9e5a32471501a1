/* Models of ai.onnx.ml: what their scores become. */
#ifndef MXNET_ONNX_CONVERT_TREES_TREE_H_
#define MXNET_ONNX_CONVERT_TREES_TREE_H_

#include <string>
#include <vector>

#include "onnx/convert/make.h"
#include "onnx/convert/operands.h"

namespace mxnet {
namespace onnx {

/* Attribute post_transform. */
enum class Post : int { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
Post ReadPost(const Call& c);
/* Of scores (examples, classes). */
Value Transformed(const Call& c, const Value& scores, Post post);

/* Names of classes: integers or strings. */
struct Labels {
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  int64_t size() const { return static_cast<int64_t>(strings.empty() ? ints.size() : strings.size()); }
};
/* Asks for the contents of the data where labels are strings: only known strings are values. */
Labels ReadLabels(Call& c, const char* ints);
/* Gives output 0: the labels at these places (examples,). */
void GiveLabels(Call& c, const Labels& labels, const Value& places);
/* The data (examples, features) as float32, or float64 where it is that. */
Value Features(const Call& c, int input);

void ConvertTreeEnsemble(Call& c);
void ConvertTreeClassifier(Call& c);
void ConvertTreeRegressor(Call& c);
void ConvertSVMClassifier(Call& c);
void ConvertSVMRegressor(Call& c);
void ConvertLabelEncoder(Call& c);
void ConvertOneHotEncoder(Call& c);
void ConvertCategoryMapper(Call& c);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_TREES_TREE_H_
