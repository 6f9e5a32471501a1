// Words in letters, and texts that are guessed and checked: com.microsoft's WordConvEmbedding and
// BifurcationDetector.
#include "onnx/convert/text/words.h"

#include <algorithm>
#include <limits>

#include "onnx/convert/make.h"

namespace mxnet {
namespace onnx {

/* letters (words, length), the filters (filters, 1, window, size of a letter), their bias, and the
 * table of letters -> (words, filters): the largest number of each filter, of all its places in the
 * word. Letter 0 ends a word. A word that begins with it is zeros; onnxruntime leaves memory as it
 * was. */
void ConvertWordConvEmbedding(Call& c) {
  CheckRank(c, 0, 2, 2);
  CheckRank(c, 1, 4, 4);
  CheckRank(c, 3, 2, 2);
  const Value &letters = c.in(0), &filters = c.in(1), &table = c.in(3);
  const int64_t words = letters.shape()[0], length = letters.shape()[1];
  const int64_t count = filters.shape()[0], window = filters.shape()[2], size = filters.shape()[3];
  const bool named = c.Attr("embedding_size", count) == count && c.Attr("conv_window_size", window) == window &&
                     c.Attr("char_embedding_size", size) == size;
  if (!named || filters.shape()[1] != 1 || window < 1 || window > length || count < 1 || c.in(2).shape() != Shape{count} ||
      table.shape()[1] != size)
    c.Refuse("letters have shape " + Text(letters.shape()) + ", W " + Text(filters.shape()) + ", B " + Text(c.in(2).shape()) + ", C " +
             Text(table.shape()) + "; accepted are these with attributes of the same sizes, and words that are no shorter than the window");
  if (words == 0) return c.Out(c.Filled(Shape{0, count}, table.dtype(), 0));
  const int64_t places = length - window + 1;
  const Value rows = c.Reshape(TakeRows(c, table, letters), Shape{words, 1, length, size});
  const Value made = c.Op("Convolution", {rows, filters, c.in(2)},
                          {{"kernel", Text(Sizes{window, size})}, {"num_filter", Text(count)}, {"no_bias", "False"}});
  const Value scores = Unary(c, "tanh", c.Reshape(made, Shape{words, count, places}));
  // The first place counts in each word, another one where its window ends within it.
  const Value is_letter = BinaryNumber(c, "greater", letters, 0);
  Sizes ends;
  for (int64_t p = 0; p < places; ++p) ends.push_back(p == 0 ? 0 : p + window);
  const Value counts = Binary(c, "less_equal", IntsLike(c, ends, {1, places}, kInt32), Sum(c, c.Cast(is_letter, kInt32), {1}, true));
  const Value low = c.Scalar(-std::numeric_limits<double>::infinity(), scores.dtype());
  const Value most = Reduce(c, "max", Where(c, c.Reshape(counts, Shape{words, 1, places}), scores, low), {2}, false);
  c.Out(Where(c, SliceAxis(c, is_letter, 1, 0, 1), most, c.Scalar(0, most.dtype())));
}

namespace {

/* Where the last `count` tokens of a text stand in another: how often, and behind the first of
 * these places. */
struct Found {
  int64_t times = 0, behind = -1;
};

Found FindLast(const std::vector<int64_t>& text, size_t count, const std::vector<int64_t>& in) {
  Found found;
  for (size_t i = 0; i + count <= in.size(); ++i) {
    if (!std::equal(text.end() - static_cast<int64_t>(count), text.end(), in.begin() + static_cast<int64_t>(i))) continue;
    if (found.times++ == 0) found.behind = static_cast<int64_t>(i + count);
  }
  return found;
}

}  // namespace

/* A source, the text so far, from where on the source was taken as its continuation, and what the
 * model says behind each of these tokens -> the text up to the first token that is another, and
 * where in the source its end stands, if that is one place. */
void ConvertBifurcationDetector(Call& c) {
  const std::vector<int64_t> source = c.Ints(0), before = c.Ints(1);
  const int64_t from = c.Int(2), size = static_cast<int64_t>(source.size());
  const int64_t least = c.Attr("min_ngram_size", int64_t{1}), most = c.Attr("max_ngram_size", int64_t{3});
  if (least < 1 || most < least)
    c.Refuse("attributes min_ngram_size and max_ngram_size are " + Text(least) + " and " + Text(most) +
             "; accepted: from 1 on, in this order");
  std::vector<int64_t> text = before;
  if (c.has(3)) {
    const std::vector<int64_t> said = c.Ints(3);
    if (from < 0 || from > size || static_cast<int64_t>(said.size()) != size + 1 - from)
      c.Refuse("prev_suffix_match_idx is " + Text(from) + ", pred_tokens are " + Text(static_cast<int64_t>(said.size())) + " for " +
               Text(size) + " src_tokens; accepted: one more than the source has from there on");
    size_t same = 0;
    while (same + 1 < said.size() && said[same] == source[static_cast<size_t>(from) + same]) ++same;
    text.insert(text.end(), said.begin(), said.begin() + static_cast<int64_t>(same) + 1);
  }
  int64_t place = -1;
  for (int64_t n = least; n <= most && n <= static_cast<int64_t>(text.size()); ++n) {
    const Found found = FindLast(text, static_cast<size_t>(n), source);
    if (found.times == 1) place = found.behind;
    if (found.times < 2) break;
  }
  c.Out(0, c.IntTensor(text));
  c.Out(1, c.IntTensor({place}));
}

}  // namespace onnx
}  // namespace mxnet
