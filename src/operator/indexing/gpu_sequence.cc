#include "operator/indexing/gpu_sequence.h"

#include <string>

#include "rtc/loop.h"

namespace mxnet {
namespace {

rtc::Arguments ArgumentsOf(const Sequences& s, const int64_t* lengths, const TBlob& in, const TBlob& out) {
  rtc::Arguments args;
  args.Add(in.dptr).Add(out.dptr).Add(lengths).Add(s.steps).Add(s.batch).Add(s.inner).Add(s.step_stride).Add(s.batch_stride);
  return args;
}
const char* const kMembers = "const D0* in; D0* out; const long long* lengths; long long steps, batch, inner, ss, bs;";
// Step t of sequence b from the number of a piece.
const char* const kFind =
    "    const I piece = i / static_cast<I>(a.inner), k = i - piece * static_cast<I>(a.inner);\n"
    "    const I rows = static_cast<I>(a.bs == 1 ? a.batch : a.steps), first = piece / rows, second = piece - first * rows;\n"
    "    const long long t = a.bs == 1 ? first : second, b = a.bs == 1 ? second : first;\n";
std::string LengthText(const char* low) {
  return std::string("    long long length = a.lengths ? a.lengths[b] : a.steps;\n    length = length < ") + low + " ? " + low +
         " : length > a.steps ? a.steps : length;\n";
}

}  // namespace

void MaskOnDevice(const RunContext& run, const Sequences& s, const int64_t* lengths, double value, const TBlob& in, const TBlob& out) {
  rtc::Arguments args = ArgumentsOf(s, lengths, in, out);
  args.Add(value);
  rtc::LaunchItems(run, {"sequence_mask", {in.dtype}}, in.Size(), &args, [&] {
    const char* const store = IsFloating(in.dtype) || in.dtype == kBool ? "mx::Store(a.out, i, a.value);\n"
                                                                        : "a.out[i] = static_cast<D0>(static_cast<long long>(a.value));\n";
    return rtc::LoopText{std::string(kMembers) + " double value;", "",
                         kFind + LengthText("0") + "    if (t < length) a.out[i] = a.in[i];\n    else " + store};
  });
}

void MoveOnDevice(const RunContext& run, SequenceMove move, const Sequences& s, const int64_t* lengths, const TBlob& in, const TBlob& out) {
  rtc::Arguments args = ArgumentsOf(s, lengths, in, out);
  const int dtypes[9] = {0, kUint8, kUint16, 0, kUint32, 0, 0, 0, kUint64};
  rtc::LaunchItems(run, {"sequence_move", {dtypes[DTypeSize(in.dtype)]}, static_cast<int>(move)}, out.Size(), &args, [&] {
    std::string body;
    if (move == SequenceMove::kLast)
      body = "    const I b = i / static_cast<I>(a.inner), k = i - b * static_cast<I>(a.inner);\n" + LengthText("1") +
             "    a.out[i] = a.in[(b * a.bs + (length - 1) * a.ss) * a.inner + k];\n";
    else if (move == SequenceMove::kLastBack)
      body = kFind + LengthText("1") + "    a.out[i] = t == length - 1 ? a.in[b * a.inner + k] : D0(0);\n";
    else
      body = kFind + LengthText("0") + "    a.out[i] = a.in[(b * a.bs + (t < length ? length - 1 - t : t) * a.ss) * a.inner + k];\n";
    return rtc::LoopText{kMembers, "", body};
  });
}

}  // namespace mxnet
