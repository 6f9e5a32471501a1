// Images that a thread works on.
#include <algorithm>
#include <exception>

#include "io/image/pipeline.h"
#include "mxnet/base.h"
#include "mxnet/error.h"
#include "operator/image/codec_library.h"
#include "operator/image/orientation.h"

namespace mxnet {
namespace image {

uint8_t* Canvas::Next(int64_t height, int64_t width, int64_t channels) {
  constexpr int64_t kMost = int64_t{1} << 32, kBehind = 64;
  MXNET_CHECK_KIND(height > 0 && width > 0 && height < kMost && width < kMost && height <= kMost / width, Value)
      << "[image] an image of " << height << " x " << width << " pixels; accepted: 1 to " << kMost;
  next_ = {nullptr, height, width, channels};
  std::vector<uint8_t>& buffer = buffers_[other_];
  const size_t size = next_.size() + kBehind;
  if (buffer.size() < size) {
    buffer.clear();  // nothing is copied
    buffer.resize(size);
  }
  return next_.pixels = buffer.data();
}

void Canvas::Done() {
  current_ = next_;
  other_ ^= 1;
}

namespace {

struct Target {
  Canvas* canvas;
  int64_t channels;
  ChooseWindow choose;
  void* context;
  std::exception_ptr failed;
};

uint8_t* Allocate(void* context, int64_t height, int64_t width) {
  auto* target = static_cast<Target*>(context);
  if (target->failed) return nullptr;
  try {
    return target->canvas->Next(height, width, target->channels);
  } catch (const std::exception&) {
    target->failed = std::current_exception();
    return nullptr;
  }
}

void Choose(void* context, int64_t height, int64_t width, int64_t window[4], int* eighths) {
  auto* target = static_cast<Target*>(context);
  try {
    const Window chosen = target->choose(target->context, height, width, eighths);
    window[0] = chosen.y, window[1] = chosen.x, window[2] = chosen.height, window[3] = chosen.width;
  } catch (const std::exception&) {
    target->failed = std::current_exception();
  }
}

// As it lies in the file, or the part that is chosen.
bool DecodeFrom(const uint8_t* file, size_t size, int channels, Canvas* canvas, std::string* why, ChooseWindow choose, void* context) {
  Target target{canvas, channels, choose, context, nullptr};
  DecodeRequest request{file, size, channels == 1, false, Allocate, &target, {0}, channels == 4, 0, choose ? Choose : nullptr};
  const Decoded done = DecodeFile(&request, "[image] ");
  if (target.failed) std::rethrow_exception(target.failed);
  if (done == Decoded::kDone && channels == 4 && request.channels != 4) {
    *why = "it has " + std::to_string(request.channels) + " channels; accepted: 4";
    return false;
  }
  if (done == Decoded::kDone) {
    canvas->Done();
    return true;
  }
  *why = done == Decoded::kNotMine ? "it is of no known format; accepted: JPEG, PNG, BMP, TIFF, WebP and PNM" : request.message;
  return false;
}

}  // namespace

bool DecodeImage(const uint8_t* file, size_t size, int channels, Canvas* canvas, std::string* why, ChooseWindow choose, void* context) {
  const int orientation = channels == 4 ? 1 : JpegOrientation(file, size, true);
  if (orientation != 1) {  // rare: the whole image is made
    if (!DecodeFrom(file, size, channels, canvas, why, nullptr, nullptr)) return false;
    const Pixels from = canvas->current();
    const bool swap = SwapsSides(orientation);
    uint8_t* to = canvas->Next(swap ? from.width : from.height, swap ? from.height : from.width, from.channels);
    PutUpright(from.pixels, from.height, from.width, from.channels, orientation, to);
    canvas->Done();
    if (choose) CropCanvas(canvas, choose(context, canvas->current().height, canvas->current().width, nullptr));
    return true;
  }
  return DecodeFrom(file, size, channels, canvas, why, choose, context);
}

void ResizeCanvas(Canvas* canvas, int64_t height, int64_t width, int method) {
  const Pixels from = canvas->current();
  if (from.height == height && from.width == width) return;
  uint8_t* to = canvas->Next(height, width, from.channels);
  ResampleWindow(static_cast<Interpolation>(method), from.pixels, {from.height, from.width, from.channels}, {0, 0, from.height, from.width},
                 to, height, width, {0, 0, height, width});
  canvas->Done();
}

void CropCanvas(Canvas* canvas, const Window& window) {
  Pixels& image = canvas->current();
  if (window.height == image.height && window.width == image.width) return;
  const size_t row = static_cast<size_t>(window.width * image.channels);
  for (int64_t y = 0; y < window.height; ++y)  // never to where a later row is read
    std::memmove(image.pixels + static_cast<size_t>(y) * row, image.pixels + ((window.y + y) * image.width + window.x) * image.channels,
                 row);
  image.height = window.height, image.width = window.width;
}

void MirrorCanvas(Canvas* canvas) {
  Pixels& image = canvas->current();
  for (int64_t y = 0; y < image.height; ++y) {
    uint8_t *left = image.pixels + y * image.width * image.channels, *right = left + (image.width - 1) * image.channels;
    for (; left < right; left += image.channels, right -= image.channels) std::swap_ranges(left, left + image.channels, right);
  }
}

void PadCanvas(Canvas* canvas, int64_t top, int64_t bottom, int64_t left, int64_t right, int fill) {
  const Pixels from = canvas->current();
  const int64_t height = from.height + top + bottom, width = from.width + left + right;
  uint8_t* to = canvas->Next(height, width, from.channels);
  std::memset(to, fill, static_cast<size_t>(height * width * from.channels));
  const size_t row = static_cast<size_t>(from.width * from.channels);
  for (int64_t y = 0; y < from.height; ++y)
    std::memcpy(to + ((top + y) * width + left) * from.channels, from.pixels + static_cast<size_t>(y) * row, row);
  canvas->Done();
}

int ChooseMethod(int inter_method, int64_t from_height, int64_t from_width, int64_t to_height, int64_t to_width, Draws* draws) {
  if (inter_method == 10) return static_cast<int>(draws->Integer(0, 4));
  if (inter_method != 9) return inter_method;
  if (to_width > from_width && to_height > from_height) return kCubic;
  return to_width < from_width && to_height < from_height ? kArea : kLinear;
}

}  // namespace image
}  // namespace mxnet
