#include "operator/record/file_outputs.h"

#include <string>
#include <unordered_map>
#include <utility>

namespace mxnet {
namespace {

struct Counts {
  int more = 0;                 // outputs that only 1.9.1 has
  const char* key = nullptr;    // where there is one, they are there if this parameter
  const char* is = nullptr;     // is this
  const char* usual = nullptr;  // and has this value when it is not given
  bool visible_alone = false;   // 1.9.1 has none of our hidden ones
};

const std::unordered_map<const Op*, Counts>& Table() {
  static const std::unordered_map<const Op*, Counts> table = [] {
    const std::pair<const char*, Counts> rows[] = {
        {"BilinearSampler", {1}},
        {"CTCLoss", {1}},
        {"Correlation", {2}},
        {"GridGenerator", {1}},
        {"InstanceNorm", {2}},
        {"L2Normalization", {1}},
        {"LRN", {1}},
        {"Pooling", {1, "pool_type", "max", "max"}},
        {"ROIPooling", {1}},
        {"_contrib_BatchNormWithReLU", {1}},
        {"_linalg_det", {2}},
        {"_linalg_slogdet", {2}},
        {"sort", {1}},
        {"topk", {1, "ret_typ", "value", "indices"}},
        {"RNN", {0, nullptr, nullptr, nullptr, true}},
        {"_cond", {0, nullptr, nullptr, nullptr, true}},
        {"_image_random_flip_left_right", {0, nullptr, nullptr, nullptr, true}},
        {"_image_random_flip_top_bottom", {0, nullptr, nullptr, nullptr, true}},
    };
    std::unordered_map<const Op*, Counts> made;
    for (const auto& row : rows)
      if (const Op* op = Op::Find(row.first)) made.emplace(op, row.second);
    return made;
  }();
  return table;
}

std::string Given(const Attrs& attrs, const char* key, const char* usual) {
  const auto at = attrs.dict.find(key);
  return at == attrs.dict.end() ? usual : at->second;
}

/* 1.9.1 pools images with channels last without workspace. */
bool ChannelsLast(const Attrs& attrs) {
  const std::string layout = Given(attrs, "layout", "None");
  return !layout.empty() && layout.back() == 'C';
}

}  // namespace

int OutputsInFiles(const Attrs& attrs) {
  const auto at = Table().find(attrs.op);
  if (at == Table().end()) return attrs.op->NumOutputs(attrs);
  const Counts& counts = at->second;
  if (counts.visible_alone) return attrs.op->NumVisibleOutputs(attrs);
  const bool there = !counts.key || (Given(attrs, counts.key, counts.usual) == counts.is && !ChannelsLast(attrs));
  return attrs.op->NumOutputs(attrs) + (there ? counts.more : 0);
}

}  // namespace mxnet
