#include <cstring>

#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/omp.h"
#include "base/threads/shared_items.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/amx_windows.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int64_t kBlockBytes = 1 << 20;  // of rows that meet all panels while they are in the second-level cache, which has 2 MiB
constexpr int64_t kMostRows = 8 * kAmxGroup;
constexpr int64_t kLine = 64;
constexpr int64_t kFewChannels = 4;  // whose planes are brought together as they are copied

bool IsImage(const ConvDims& d) { return d.kernel[0] == 1 && d.in[0] == 1 && d.out[0] == 1 && d.dilate[2] == 1 && d.kernel[2] > 1; }

AmxView ViewOf(const AmxImages& images) {
  const ConvDims& d = images.d;
  const int64_t filled = images.Filled(), wide = (d.out[2] - 1) * d.stride[2] + d.kernel[2];
  bool direct = !images.planes && filled == d.channels * images.size;
  for (int i = 0; i < 3; ++i) direct = direct && d.kernel[i] == 1 && d.stride[i] == 1 && d.pad[i] == 0 && d.in[i] == d.out[i];
  if (direct) return {AmxWay::kDirect, 0, filled, 1, 0, filled / 4};
  const bool flat = d.stride[2] == 1 && d.stride[1] == 1;
  if (IsImage(d) && (flat || d.out[2] >= kAmxRows || images.planes))
    return {flat ? AmxWay::kFlat : AmxWay::kLines,
            wide,
            d.stride[2] * filled,
            d.kernel[1],
            d.dilate[1] * wide * filled,
            d.kernel[2] * filled / 4};
  const int64_t row = d.KernelSize() * filled;
  return {AmxWay::kCopied, 0, RoundUp(row, kLine) | kLine, 1, 0, row / 4};  // an odd number of lines of the cache: all of its sets
}

/* T: what holds the channels of a pixel; E: an element. */
template <typename T, typename E>
void Interleave(const AmxImages& images, const E* from, int64_t count, char* to) {
  const int64_t last = images.d.channels - 1, plane = images.d.InSize();
  const E* const planes[] = {from, from + std::min<int64_t>(1, last) * plane, from + std::min<int64_t>(2, last) * plane,
                             from + std::min<int64_t>(3, last) * plane};
  constexpr int kBits = 8 * sizeof(E);
  constexpr int kAll = 8 * sizeof(T);
  const T there = last * kBits + kBits < kAll ? (T{1} << (last * kBits + kBits) % kAll) - 1 : ~T{0};
  T* const words = reinterpret_cast<T*>(to);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    T word = static_cast<T>(planes[0][i]) | static_cast<T>(planes[1][i]) << kBits;
    if (kAll > 2 * kBits) word |= static_cast<T>(planes[2][i]) << 2 * kBits % kAll | static_cast<T>(planes[3][i]) << 3 * kBits % kAll;
    words[i] = word & there;
  }
}

/* Places [first, first + count) of a line of channels; null: it lies outside. What fills up
 * channels meets weights of zero, and is a number. */
void CopyPlaces(const AmxImages& images, const char* line, int64_t first, int64_t count, char* to) {
  const int64_t in = images.d.in[2], c = images.d.channels * images.size, filled = images.Filled();
  const int64_t before = line ? std::min(count, std::max<int64_t>(0, -first)) : count, end = std::max(before, std::min(count, in - first));
  std::memset(to, images.outside, static_cast<size_t>(before * filled));
  if (!line) return;
  std::memset(to + end * filled, images.outside, static_cast<size_t>((count - end) * filled));
  to += before * filled;
  const int64_t inside = end - before, x = first + before;
  if (images.planes && images.size == 1) {
    Interleave<uint32_t>(images, reinterpret_cast<const uint8_t*>(line) + x, inside, to);
  } else if (images.planes) {
    const auto* const from = reinterpret_cast<const uint16_t*>(line) + x;
    filled == 4 ? Interleave<uint32_t>(images, from, inside, to) : Interleave<uint64_t>(images, from, inside, to);
  } else if (filled == c) {
    std::memcpy(to, line + x * c, static_cast<size_t>(inside * c));
  } else {
    for (int64_t i = 0; i < inside; ++i, to += filled) {
      std::memcpy(to, line + (x + i) * c, static_cast<size_t>(c));
      std::memset(to + c, 0, static_cast<size_t>(filled - c));
    }
  }
}

/* The line of an image's data; null: it is outside. Of planes: that of the first one. */
const char* LineOf(const AmxImages& images, int64_t image, int64_t z, int64_t y) {
  const ConvDims& d = images.d;
  if (z < 0 || z >= d.in[0] || y < 0 || y >= d.in[1]) return nullptr;
  return images.data + (image * d.InSize() * d.channels + (z * d.in[1] + y) * d.in[2] * (images.planes ? 1 : d.channels)) * images.size;
}

/* What the windows of lines [begin, end) of an image's result see. */
void CopyBordered(const AmxImages& images, const AmxView& view, int64_t image, int64_t begin, int64_t end, char* to) {
  const ConvDims& d = images.d;
  const int64_t first = begin * d.stride[1] - d.pad[1], lines = (end - begin - 1) * d.stride[1] + (d.kernel[1] - 1) * d.dilate[1] + 1;
  for (int64_t i = 0; i < lines; ++i, to += view.wide * images.Filled())
    CopyPlaces(images, LineOf(images, image, 0, first + i), -d.pad[2], view.wide, to);
}

/* Windows of places [begin, end) of the results of all images. */
void CopyWindows(const AmxImages& images, const AmxView& view, int64_t begin, int64_t end, char* to) {
  const ConvDims& d = images.d;
  const bool whole = d.dilate[2] == 1;
  const int64_t together = whole ? d.kernel[2] : 1, parts = whole ? 1 : d.kernel[2], bytes = together * images.Filled();
  for (int64_t i = begin; i < end; ++i, to += view.pitch) {
    const int64_t place = i % d.OutSize(), x = place % d.out[2] * d.stride[2] - d.pad[2];
    const int64_t z = place / (d.out[1] * d.out[2]) * d.stride[0] - d.pad[0], y = place / d.out[2] % d.out[1] * d.stride[1] - d.pad[1];
    char* part = to;
    for (int64_t j = 0; j < d.kernel[0]; ++j)
      for (int64_t k = 0; k < d.kernel[1]; ++k) {
        const char* const line = LineOf(images, i / d.OutSize(), z + j * d.dilate[0], y + k * d.dilate[1]);
        for (int64_t p = 0; p < parts; ++p, part += bytes) CopyPlaces(images, line, x + p * d.dilate[2], together, part);
      }
  }
}

/* Blocks of a tile's rows or, of kFlat and kLines, of lines of an image's result. Panels are
 * divided where there are few of them. */
class Blocks {
 public:
  Blocks(const AmxImages& images, int64_t panels) : view(ViewOf(images)), images_(images) {
    const ConvDims& d = images.d;
    by_lines_ = view.way == AmxWay::kFlat || view.way == AmxWay::kLines;
    constexpr double kTimes = 0.25;  // of a float's multiply-add
    threads = OmpThreadsForFlops(kTimes * 2.0 * static_cast<double>(d.batch * d.OutSize() * d.filters) *
                                 static_cast<double>(d.channels * d.KernelSize()));
    const int64_t size = by_lines_ ? d.out[2] : kAmxRows, times = by_lines_ ? d.batch : 1;
    units_ = by_lines_ ? d.out[1] : RoundUp(d.batch * d.OutSize(), size) / size;
    const int64_t bytes = by_lines_ ? d.stride[1] * view.wide * images.Filled() : size * view.pitch;
    int64_t most = std::max<int64_t>(1, std::min((kMostRows + size - 1) / size, kBlockBytes / bytes));
    // Rows that are divided read the filters once each, so panels are divided first.
    const int64_t wanted = threads > 1 ? 4 * threads : 1;
    if (panels * times * ((units_ + most - 1) / most) < wanted)
      most = std::max((kAmxGroup + size - 1) / size, std::min(most, units_ * times * panels / wanted));
    of_image_ = (units_ + most - 1) / most;
    count = of_image_ * times;
    shares = std::min(panels, (wanted + count - 1) / count);
  }

  int64_t Room() const {
    const ConvDims& d = images_.d;
    const int64_t in_block = (units_ + of_image_ - 1) / of_image_;
    if (view.way == AmxWay::kDirect) return 0;
    if (!by_lines_) return in_block * kAmxRows * view.pitch;
    return RoundUp(((in_block - 1) * d.stride[1] + (d.kernel[1] - 1) * d.dilate[1] + 1) * view.wide * images_.Filled(), kLine);
  }

  /* Copies what there is to copy. */
  void Fetch(int64_t block, char* room) const {
    const Range r = Of(block);
    if (by_lines_)
      CopyBordered(images_, view, r.image, r.begin, r.end, room);
    else if (view.way == AmxWay::kCopied)
      CopyWindows(images_, view, r.begin, r.end, room);
  }

  AmxBlock At(int64_t block, const char* room) const {
    const ConvDims& d = images_.d;
    const Range r = Of(block);
    const int64_t count = r.end - r.begin, width = d.out[2];
    if (!by_lines_)
      return {view, view.way == AmxWay::kDirect ? images_.data + r.begin * view.pitch : room, count, count, count, r.begin, 1, 0};
    const int64_t first = (r.image * d.out[1] + r.begin) * width;
    if (view.way == AmxWay::kFlat) return {view, room, (count - 1) * view.wide + width, view.wide, width, first, 1, 0};
    return {view, room, width, width, width, first, count, d.stride[1] * view.wide * images_.Filled()};
  }

  const AmxView view;
  int threads;
  int64_t count, shares;  // shares: of the panels

 private:
  struct Range {
    int64_t image, begin, end;  // lines of the image, or rows
  };
  Range Of(int64_t block) const {
    const int64_t image = block / of_image_, own = block % of_image_;
    const int64_t begin = Share(units_, of_image_, own), end = Share(units_, of_image_, own + 1);
    if (by_lines_) return {image, begin, end};
    return {0, begin * kAmxRows, std::min(images_.d.batch * images_.d.OutSize(), end * kAmxRows)};
  }
  const AmxImages& images_;
  bool by_lines_;
  int64_t units_, of_image_;  // units: rows of a tile, or lines of an image; of_image: blocks
};

}  // namespace

bool AmxTakesPlanes(const ConvDims& d) { return d.channels <= kFewChannels && d.groups == 1 && IsImage(d); }

void AmxForBlocks(KernelArgs& args, const AmxImages& images, int64_t panels,
                  const std::function<void(const AmxBlock& block, int64_t first, int64_t last)>& multiply) {
  const Blocks blocks(images, panels);
  const int64_t room = blocks.Room(), shares = blocks.shares;
  char* const rooms = room ? Workspace<char>(args, blocks.threads * room) : nullptr;
  DividedItems items(blocks.threads, blocks.count * shares);
  ParallelForThreads(blocks.threads, blocks.threads, [&](int64_t from, int64_t to) {
    for (int64_t id = from; id < to; ++id) {
      char* const own = rooms + id * room;
      int64_t in_room = -1, at_first = -1;
      for (int64_t t; items.Next(id, &t);) {
        const int64_t block = t / shares, share = t % shares;
        if (in_room != block) blocks.Fetch(block, own), in_room = block;
        if (at_first < 0) at_first = block;
        AmxBlock rows = blocks.At(block, own);
        rows.fetches = block == at_first;
        multiply(rows, Share(panels, shares, share), Share(panels, shares, share + 1));
      }
    }
  });
}

#if !defined(__x86_64__)  // HasAmx() says no, and nobody gets here

AmxScope::AmxScope(int64_t, int64_t) {}
AmxScope::~AmxScope() {}
void AmxProducts(AmxKind, const AmxOperands&, int64_t, int64_t) {}

#endif

}  // namespace nn
}  // namespace mxnet
