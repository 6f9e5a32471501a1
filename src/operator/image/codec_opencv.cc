// Image files by OpenCV: PNG, BMP, TIFF, WebP, PNM, and the JPEG files that codec_jpeg.cc leaves.
// Files are read in all these formats, and written as PNG.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <vector>

#include "operator/image/codec.h"

namespace mxnet {
namespace image {
namespace {

// OpenCV has more readers, some of which call large libraries. These are what 1.9.1 reads, WebP and
// PNM.
bool IsKnown(const uint8_t* b, size_t n) {
  auto starts = [&](const char* text, size_t length, size_t at = 0) { return n >= at + length && std::memcmp(b + at, text, length) == 0; };
  return starts("\xff\xd8\xff", 3) || starts("\x89PNG\r\n\x1a\n", 8) || starts("BM", 2) || starts("II*\0", 4) || starts("MM\0*", 4) ||
         (starts("RIFF", 4) && starts("WEBP", 4, 8)) || (n > 2 && b[0] == 'P' && b[1] >= '1' && b[1] <= '6');
}

// Refuses the memory of an image that its file cannot hold, before it is allocated.
class Careful : public cv::MatAllocator {
 public:
  Careful(size_t bytes, double most_pixels) : bytes_(bytes), most_pixels_(most_pixels) {}
  cv::UMatData* allocate(int dims, const int* sizes, int type, void* data, size_t* step, cv::AccessFlag flags,
                         cv::UMatUsageFlags usage) const override {
    if (dims == 2 && !PlausiblePixels(sizes[0], sizes[1], bytes_, most_pixels_)) {
      char text[180];
      std::snprintf(text, sizeof(text),
                    "%d x %d pixels are too many for a file of %zu bytes, or more than %.0f (OPENCV_IO_MAX_IMAGE_PIXELS)", sizes[1],
                    sizes[0], bytes_, most_pixels_);
      CV_Error(cv::Error::StsOutOfRange, text);
    }
    return cv::Mat::getStdAllocator()->allocate(dims, sizes, type, data, step, flags, usage);
  }
  bool allocate(cv::UMatData* data, cv::AccessFlag flags, cv::UMatUsageFlags usage) const override {
    return cv::Mat::getStdAllocator()->allocate(data, flags, usage);
  }
  void deallocate(cv::UMatData* data) const override { cv::Mat::getStdAllocator()->deallocate(data); }

 private:
  size_t bytes_;
  double most_pixels_;
};

// Copies pixels of `channels`; `swap`: the first and the third change places.
void CopyPixels(const uint8_t* from, int64_t count, int channels, bool swap, uint8_t* to) {
  if (channels < 3 || !swap) {
    std::memcpy(to, from, static_cast<size_t>(count * channels));
    return;
  }
  for (int64_t x = 0; x < count; ++x, from += channels, to += channels) {
    to[0] = from[2], to[1] = from[1], to[2] = from[0];
    if (channels == 4) to[3] = from[3];
  }
}

Decoded Decode(DecodeRequest* request) {
  const Careful allocator(request->size, request->most_pixels);
  cv::Mat image;  // IMREAD_UNCHANGED follows no orientation either
  image.allocator = const_cast<Careful*>(&allocator);
  const cv::Mat file(1, static_cast<int>(request->size), CV_8U, const_cast<uint8_t*>(request->bytes));
  const int wanted = (request->gray ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR) | cv::IMREAD_IGNORE_ORIENTATION;
  cv::imdecode(file, request->unchanged ? static_cast<int>(cv::IMREAD_UNCHANGED) : wanted, &image);
  if (request->unchanged && !image.empty() && image.depth() != CV_8U) {
    std::snprintf(request->message, sizeof(request->message), "it has more than 8 bits a channel");
    return Decoded::kFailed;
  }
  const bool as_wanted = request->unchanged ? image.channels() != 2 : image.type() == (request->gray ? CV_8UC1 : CV_8UC3);
  if (image.empty() || !as_wanted) {
    std::snprintf(request->message, sizeof(request->message), "the file is damaged");
    return Decoded::kFailed;
  }
  request->channels = image.channels();
  int64_t window[4] = {0, 0, image.rows, image.cols};
  if (request->choose) request->choose(request->context, image.rows, image.cols, window, nullptr);
  uint8_t* to = request->allocate(request->context, window[2], window[3]);
  if (!to) return Decoded::kFailed;
  const int64_t channels = image.channels(), row = window[3] * channels;
  for (int64_t y = 0; y < window[2]; ++y)
    CopyPixels(image.ptr(static_cast<int>(window[0] + y)) + window[1] * channels, window[3], image.channels(), !request->blue_first,
               to + y * row);
  return Decoded::kDone;
}

bool Encode(EncodeRequest* request) {
  if (request->height > 0x7fffffff || request->width > 0x7fffffff) CV_Error(cv::Error::StsOutOfRange, "too many rows or columns");
  const int type = CV_8UC(request->channels), rows = static_cast<int>(request->height), columns = static_cast<int>(request->width);
  cv::Mat image(rows, columns, type, const_cast<uint8_t*>(request->pixels));
  if (request->channels >= 3 && !request->blue_first) {
    cv::Mat swapped(rows, columns, type);
    CopyPixels(request->pixels, request->height * request->width, request->channels, true, swapped.data);
    image = swapped;
  }
  std::vector<uchar> file;
  cv::imencode(".png", image, file, {cv::IMWRITE_PNG_COMPRESSION, std::clamp(request->quality, 0, 9)});
  if (!file.empty()) return request->take(request->context, file.data(), file.size());
  std::snprintf(request->message, sizeof(request->message), "libpng could not write it");
  return false;
}

// Messages belong into exceptions.
void BeQuiet() {
  static const bool quiet = [] {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    return true;
  }();
  (void)quiet;
}

// f(), and false, with what was thrown in `message`.
template <typename F>
bool Guarded(F&& f, char* message, size_t size) {
  try {
    f();
    return true;
  } catch (const cv::Exception& e) {
    std::snprintf(message, size, "%s", e.err.c_str());
  } catch (const std::exception& e) {
    std::snprintf(message, size, "%s", e.what());
  }
  return false;
}

}  // namespace
}  // namespace image
}  // namespace mxnet

extern "C" __attribute__((visibility("default"))) bool MXNET_ENCODE_FUNCTION(mxnet::image::EncodeRequest* request) {
  using namespace mxnet::image;  // NOLINT
  BeQuiet();
  bool done = false;
  return Guarded([&] { done = Encode(request); }, request->message, sizeof(request->message)) && done;
}

extern "C" __attribute__((visibility("default"))) mxnet::image::Decoded MXNET_DECODE_FUNCTION(mxnet::image::DecodeRequest* request) {
  using namespace mxnet::image;  // NOLINT
  BeQuiet();
  if (!IsKnown(request->bytes, request->size) || request->size > 0x7fffffff) return Decoded::kNotMine;
  Decoded done = Decoded::kFailed;
  Guarded([&] { done = Decode(request); }, request->message, sizeof(request->message));
  return done;
}
