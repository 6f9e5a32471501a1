/*
 * What onnxruntime has for those who decode texts and sounds: tokens that would repeat themselves,
 * and the path through a matrix of costs that costs least.
 */
#include <algorithm>
#include <limits>

#include "onnx/convert/make.h"
#include "onnx/convert/text/text_tokens.h"

namespace mxnet {
namespace onnx {

namespace {

/* Ids (batch, length), scores (batch, tokens): minus infinity where a token would make n in a row
 * that the ids have already. */
void NGramRepeatBlock(Call& c) {
  CheckRank(c, 0, 2, 2);
  CheckRank(c, 1, 2, 2);
  const Shape ids = c.in(0).shape(), scores = c.in(1).shape();
  const int64_t n = c.Attr("ngram_size", int64_t{0});
  if (n < 1) c.Refuse("attribute ngram_size is " + Text(n) + "; accepted: from 1 on");
  if (ids[0] != scores[0]) c.Refuse("ids have shape " + Text(ids) + ", scores " + Text(scores) + "; accepted: equal numbers of rows");
  const std::vector<int64_t> all = c.Ints(0);
  Sizes repeats(static_cast<size_t>(scores.Size()), 0);
  for (int64_t b = 0; b < ids[0]; ++b) {
    const auto row = all.begin() + b * ids[1], end = row + ids[1];
    for (auto at = row; end - at >= n; ++at) {
      if (!std::equal(at, at + (n - 1), end - (n - 1))) continue;
      const int64_t token = at[n - 1];
      if (token < 0 || token >= scores[1]) c.Refuse("an id is " + Text(token) + "; accepted: 0 to " + Text(scores[1] - 1));
      repeats[static_cast<size_t>(b * scores[1] + token)] = 1;
    }
  }
  const Value low = c.Scalar(-std::numeric_limits<double>::infinity(), c.in(1).dtype());
  c.Out(Where(c, IntsLike(c, repeats, DimsOf(scores), kBool), low, c.in(1)));
}

/* Costs (rows, columns) -> the places (2, steps) of the path that costs least, from the first to
 * the last. Of equally cheap steps one to the left is taken. */
void DynamicTimeWarping(Call& c) {
  const Shape given = c.in(0).shape();
  CheckRank(c, 0, 2, 3);
  if (given.ndim() == 3 && given[0] != 1) c.Refuse("costs have shape " + Text(given) + "; accepted: (rows, columns), (1, rows, columns)");
  const int64_t rows = given[given.ndim() - 2], columns = given[given.ndim() - 1];
  const NDArray& known = c.Known(0);
  if (known.dtype() != kFloat32) c.Refuse(std::string("costs are ") + DTypeName(known.dtype()) + "; accepted: float32");
  const float* const costs = known.data().dptr<const float>();
  const auto at = [&](int64_t i, int64_t j) { return static_cast<size_t>(i * (columns + 1) + j); };
  std::vector<float> sum(at(rows, columns) + 1, std::numeric_limits<float>::infinity());
  enum Step : char { kBoth, kUp, kLeft };
  std::vector<char> step(sum.size(), kLeft);  // in the first row; kUp in the first column
  sum[0] = 0;
  for (int64_t i = 1; i <= rows; ++i) {
    step[at(i, 0)] = kUp;
    for (int64_t j = 1; j <= columns; ++j) {
      const float both = sum[at(i - 1, j - 1)], up = sum[at(i - 1, j)], left = sum[at(i, j - 1)];
      const Step best = both < up && both < left ? kBoth : up < both && up < left ? kUp : kLeft;
      sum[at(i, j)] = costs[(i - 1) * columns + j - 1] + (best == kBoth ? both : best == kUp ? up : left);
      step[at(i, j)] = best;
    }
  }
  std::vector<int32_t> down, across;
  for (int64_t i = rows, j = columns; i > 0 && j > 0;) {
    down.push_back(static_cast<int32_t>(i - 1)), across.push_back(static_cast<int32_t>(j - 1));
    const char taken = step[at(i, j)];
    i -= taken != kLeft, j -= taken != kUp;
  }
  std::reverse(down.begin(), down.end());
  std::reverse(across.begin(), across.end());
  const int64_t steps = static_cast<int64_t>(down.size());
  down.insert(down.end(), across.begin(), across.end());
  c.Out(c.Tensor(Shape{2, steps}, kInt32, down.data()));
}

}  // namespace

Rules DecodingRules() {
  return {{"com.microsoft", "NGramRepeatBlock", 1, kNewest, NGramRepeatBlock, nullptr},
          {"com.microsoft", "DynamicTimeWarping", 1, kNewest, DynamicTimeWarping, nullptr}};
}

}  // namespace onnx
}  // namespace mxnet
