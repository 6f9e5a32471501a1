// Image files by OpenCV: PNG, BMP, TIFF, WebP, PNM, and the JPEG files that codec_jpeg.cc leaves.
#include <cstdio>
#include <cstring>
#include <exception>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>

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
  explicit Careful(size_t bytes) : bytes_(bytes) {}
  cv::UMatData* allocate(int dims, const int* sizes, int type, void* data, size_t* step, cv::AccessFlag flags,
                         cv::UMatUsageFlags usage) const override {
    if (dims == 2 && !PlausiblePixels(sizes[0], sizes[1], bytes_)) {
      char text[120];
      std::snprintf(text, sizeof(text), "%d x %d pixels are too many for a file of %zu bytes", sizes[1], sizes[0], bytes_);
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
};

void CopyRow(const uint8_t* from, int64_t width, bool gray, bool swap, uint8_t* to) {
  if (gray || !swap) {
    std::memcpy(to, from, static_cast<size_t>(width) * (gray ? 1 : 3));
    return;
  }
  for (int64_t x = 0; x < width; ++x) to[3 * x] = from[3 * x + 2], to[3 * x + 1] = from[3 * x + 1], to[3 * x + 2] = from[3 * x];
}

Decoded Decode(DecodeRequest* request) {
  const Careful allocator(request->size);
  cv::Mat image;
  image.allocator = const_cast<Careful*>(&allocator);
  const cv::Mat file(1, static_cast<int>(request->size), CV_8U, const_cast<uint8_t*>(request->bytes));
  cv::imdecode(file, (request->gray ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR) | cv::IMREAD_IGNORE_ORIENTATION, &image);
  if (image.empty() || image.type() != (request->gray ? CV_8UC1 : CV_8UC3)) {
    std::snprintf(request->message, sizeof(request->message), "the file is damaged");
    return Decoded::kFailed;
  }
  uint8_t* to = request->allocate(request->context, image.rows, image.cols);
  if (!to) return Decoded::kFailed;
  const int64_t row = static_cast<int64_t>(image.cols) * image.channels();
  for (int y = 0; y < image.rows; ++y) CopyRow(image.ptr(y), image.cols, request->gray, !request->blue_first, to + y * row);
  return Decoded::kDone;
}

}  // namespace
}  // namespace image
}  // namespace mxnet

extern "C" __attribute__((visibility("default"))) mxnet::image::Decoded MXNET_DECODE_FUNCTION(mxnet::image::DecodeRequest* request) {
  using namespace mxnet::image;  // NOLINT
  static const bool quiet = [] {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    return true;
  }();
  (void)quiet;
  if (!IsKnown(request->bytes, request->size) || request->size > 0x7fffffff) return Decoded::kNotMine;
  try {
    return Decode(request);
  } catch (const cv::Exception& e) {
    std::snprintf(request->message, sizeof(request->message), "%s", e.err.c_str());
  } catch (const std::exception& e) {
    std::snprintf(request->message, sizeof(request->message), "%s", e.what());
  }
  return Decoded::kFailed;
}
