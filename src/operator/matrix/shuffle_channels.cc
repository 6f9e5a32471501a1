// _shuffle_channels: channels of groups taken in turn (Zhang et al., "ShuffleNet", 2017), with what
// stands around that in such networks: the groups may be arrays of their own, and the result may be
// cut into stretches of channels. So every number is moved once.
#include <cstring>

#include "base/ran.h"
#include "base/threads/omp.h"
#include "operator/nodes/make_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace {

struct ShuffleChannelsParam : public Parameter<ShuffleChannelsParam> {
  int num_args;
  int groups;
  Shape begins, ends;
  MXNET_DECLARE_PARAM(ShuffleChannelsParam) {
    MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of inputs: as many as groups, or one.");
    MXNET_FIELD(groups).set_lower_bound(1).describe("Number of groups, each of as many channels.");
    MXNET_FIELD(begins).describe("First channel of each result.");
    MXNET_FIELD(ends).describe("The channel behind the last of each result.");
  }
};
MXNET_REGISTER_PARAM(ShuffleChannelsParam);

constexpr int64_t kGrain = 16384;  // bytes that outweigh starting a thread

bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<ShuffleChannelsParam>();
  Shape& first = (*in)[0];
  if (!first.known()) return false;
  MXNET_CHECK_KIND(first.ndim() >= 2, Value) << "[" << attrs.op->name << "] data of shape " << first
                                             << "; accepted: (batch, channels, ...)";
  for (Shape& s : *in) AssignShape(attrs, "an input", &s, first);
  const int64_t channels = first[1] * p.num_args;
  MXNET_CHECK_KIND((p.num_args == 1 || p.num_args == p.groups) && channels % p.groups == 0, Value)
      << "[" << attrs.op->name << "] " << p.num_args << " inputs of " << first[1] << " channels for " << p.groups
      << " groups; accepted: one input, or one for each group, and as many channels in each group";
  MXNET_CHECK_KIND(p.begins.ndim() == p.ends.ndim() && p.begins.ndim() == static_cast<int>(out->size()), Value)
      << "[" << attrs.op->name << "] begins " << p.begins << " and ends " << p.ends << "; accepted: as many of both";
  for (size_t o = 0; o < out->size(); ++o) {
    const int64_t begin = p.begins[static_cast<int>(o)], end = p.ends[static_cast<int>(o)];
    MXNET_CHECK_KIND(begin >= 0 && begin < end && end <= channels, Value)
        << "[" << attrs.op->name << "] channels " << begin << " to " << end << "; accepted: a stretch of " << channels << " channels";
    Shape s = first;
    s[1] = end - begin;
    AssignShape(attrs, "a result", &(*out)[o], s);
  }
  return true;
}

/* Where a group's channels lie: one behind the other, those of the next place `pitch` behind. */
template <typename T>
struct Group {
  const T* first;
  int64_t pitch;
};

template <typename T>
class Shuffle {
 public:
  explicit Shuffle(const KernelArgs& a) : args_(a), param_(a.param<ShuffleChannelsParam>()) {
    const TBlob& in = a.in[0];
    batch_ = in.shape[0], places_ = in.shape.Prod(2, in.shape.ndim());
    group_ = in.shape[1] * param_.num_args / param_.groups;
  }

  /* Of channels that lie one behind the other, for each place of each image. */
  void Rows(int output) const {
    const int64_t begin = param_.begins[output], count = param_.ends[output] - begin;
    T* to = args_.out[output].data<T>();
    const std::vector<Group<T>> groups = Groups(1);
    ParallelFor(batch_ * places_, Grain(count), [&](int64_t from, int64_t until) {
      for (int64_t at = from; at < until; ++at) {
        if (groups.size() == 2 && begin % 2 == 0)
          TwoInTurn(groups[0].first + at * groups[0].pitch + begin / 2, groups[1].first + at * groups[1].pitch + begin / 2, count,
                    to + at * count);
        else
          InTurn(groups, at, begin, count, to + at * count);
      }
    });
  }

  /* Of channels whose places lie one behind the other. */
  void Planes(int output) const {
    const int64_t begin = param_.begins[output], count = param_.ends[output] - begin;
    T* to = args_.out[output].data<T>();
    const std::vector<Group<T>> groups = Groups(places_);
    ParallelFor(batch_ * count, Grain(places_), [&](int64_t from, int64_t until) {
      for (int64_t at = from; at < until; ++at) {
        const int64_t image = at / count, channel = begin + at % count;
        const Group<T>& group = groups[channel % param_.groups];
        std::memcpy(to + at * places_, group.first + image * group.pitch + channel / param_.groups * places_, places_ * sizeof(T));
      }
    });
  }

 private:
  static int64_t Grain(int64_t elements) { return kGrain / std::max<int64_t>(elements * sizeof(T), 1) + 1; }

  /* `each`: elements of a channel that lie together. */
  std::vector<Group<T>> Groups(int64_t each) const {
    std::vector<Group<T>> groups;
    for (int i = 0; i < param_.groups; ++i) {
      const bool own = param_.num_args > 1;
      groups.push_back(
          {args_.in[own ? i : 0].template data<T>() + (own ? 0 : i * group_ * each), (own ? 1 : param_.groups) * group_ * each});
    }
    return groups;
  }

  static void TwoInTurn(const T* __restrict a, const T* __restrict b, int64_t count, T* __restrict to) {
    const int64_t pairs = count / 2;
    for (int64_t i = 0; i < pairs; ++i) {
      to[2 * i] = a[i];
      to[2 * i + 1] = b[i];
    }
    if (count % 2) to[count - 1] = a[pairs];
  }

  void InTurn(const std::vector<Group<T>>& groups, int64_t at, int64_t begin, int64_t count, T* to) const {
    int64_t group = begin % param_.groups, channel = begin / param_.groups;
    for (int64_t i = 0; i < count; ++i) {
      to[i] = groups[group].first[at * groups[group].pitch + channel];
      if (++group == param_.groups) group = 0, ++channel;
    }
  }

  const KernelArgs& args_;
  const ShuffleChannelsParam& param_;
  int64_t batch_, places_, group_;  // channels of a group
};

template <typename T>
void Run(const KernelArgs& a) {
  const Shuffle<T> shuffle(a);
  for (int o = 0; o < a.out.size(); ++o) {
    if (a.req[o] == OpReq::kNull || a.out[o].Size() == 0) continue;
    if (a.in[0].layout == Layout::kChannelsLast)
      shuffle.Rows(o);
    else
      shuffle.Planes(o);
  }
}

void Forward(KernelArgs& a) {
  Ran("copies of rows", RanAt::kNone);
  switch (DTypeSize(a.in[0].dtype)) {
    case 1: return Run<uint8_t>(a);
    case 2: return Run<uint16_t>(a);
    case 4: return Run<uint32_t>(a);
    default: return Run<uint64_t>(a);
  }
}

MXNET_REGISTER_OP(_shuffle_channels)
    .describe("Channels of groups taken in turn, and stretches of the result; made by the plan compiler.")
    .set_param<ShuffleChannelsParam>()
    .set_variadic("data", [](const Attrs& a) { return a.get<ShuffleChannelsParam>().num_args; })
    .set_num_outputs([](const Attrs& a) { return a.get<ShuffleChannelsParam>().begins.ndim(); })
    .set_dtypes(dtypes::kAll)
    .set_layout(LayoutRule::kChannelsLast)
    .set_infer_shape(InferShape)
    .set_kernel(DeviceType::kCPU, Forward);

std::string Text(const std::vector<int64_t>& numbers) {
  std::string text = "(";
  for (const int64_t n : numbers) text += std::to_string(n) + ",";
  return text + ")";
}

}  // namespace

NodePtr MakeShuffledChannels(std::vector<NodeEntry> data, int64_t groups, const std::vector<int64_t>& begins,
                             const std::vector<int64_t>& ends, const std::string& name) {
  const std::string count = std::to_string(data.size());
  return MakeNode("_shuffle_channels", std::move(data),
                  {{"num_args", count}, {"groups", std::to_string(groups)}, {"begins", Text(begins)}, {"ends", Text(ends)}}, name);
}

}  // namespace mxnet
