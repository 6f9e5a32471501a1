// JPEG files by libjpeg-turbo. Pixels go straight to where they are wanted.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// which need the above
#include <jerror.h>
#include <jpeglib.h>

#include "operator/image/codec.h"

namespace mxnet {
namespace image {
namespace {

constexpr JDIMENSION kRows = 8;  // that are read at once
constexpr int kMostScans = 500;  // of a progressive file; each takes the time of a whole image

// One decoding. Errors leave libjpeg by longjmp, so nothing here has a destructor.
struct Job {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  jmp_buf leave;
  DecodeRequest* request;
  bool cut_short;
};

Job* JobOf(j_common_ptr jpeg) { return static_cast<Job*>(jpeg->client_data); }

void Fail(j_common_ptr jpeg) {
  char text[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, text);
  Job* job = JobOf(jpeg);
  std::snprintf(job->request->message, sizeof(job->request->message), "%s", text);
  std::longjmp(job->leave, 1);
}

void Warn(j_common_ptr jpeg, int level) {
  if (level < 0 && jpeg->err->msg_code == JWRN_JPEG_EOF) JobOf(jpeg)->cut_short = true;
}

void Silent(j_common_ptr) {}

void CountScans(j_common_ptr jpeg) {
  Job* job = JobOf(jpeg);
  if (!jpeg->is_decompressor || job->jpeg.input_scan_number <= kMostScans) return;
  std::snprintf(job->request->message, sizeof(job->request->message), "the file has more than %d scans", kMostScans);
  std::longjmp(job->leave, 1);
}

/*
 * Rows and columns of a window. Blocks beside it are not transformed. Where colours have fewer
 * pixels than brightness, those at the edge of what is decoded are made in another way than inside
 * of an image, so a margin is decoded as well.
 */
void ReadWindow(jpeg_decompress_struct* jpeg, const int64_t window[4], uint8_t* to) {
  constexpr int64_t kMargin = 32;  // columns: a block of the coarsest sampling
  const size_t channels = static_cast<size_t>(jpeg->output_components), row = static_cast<size_t>(window[3]) * channels;
  const JDIMENSION first = static_cast<JDIMENSION>(window[0]), end = static_cast<JDIMENSION>(window[0] + window[2]);
  const int64_t width = jpeg->output_width;
  JSAMPARRAY strip = nullptr;  // rows that are wider than the window
  size_t skip = 0;
  if (window[3] < width) {
    const int64_t left = window[1] > kMargin ? window[1] - kMargin : 0;
    const int64_t right = window[1] + window[3] + kMargin < width ? window[1] + window[3] + kMargin : width;
    JDIMENSION x = static_cast<JDIMENSION>(left), columns = static_cast<JDIMENSION>(right - left);
    if (right - left < width) jpeg_crop_scanline(jpeg, &x, &columns);
    strip = (*jpeg->mem->alloc_sarray)(reinterpret_cast<j_common_ptr>(jpeg), JPOOL_IMAGE, columns * jpeg->output_components, kRows);
    skip = static_cast<size_t>(window[1] - x) * channels;
  }
  if (first > 0) jpeg_skip_scanlines(jpeg, first);
  while (jpeg->output_scanline < end) {
    JSAMPROW rows[kRows];
    const JDIMENSION at = jpeg->output_scanline - first, left = end - jpeg->output_scanline, n = left < kRows ? left : kRows;
    for (JDIMENSION i = 0; i < n; ++i) rows[i] = strip ? strip[i] : to + (at + i) * row;
    const JDIMENSION got = jpeg_read_scanlines(jpeg, rows, n);
    for (JDIMENSION i = 0; strip && i < got; ++i) std::memcpy(to + (at + i) * row, strip[i] + skip, row);
  }
  if (jpeg->output_scanline == jpeg->output_height) jpeg_finish_decompress(jpeg);
}

// Everything that may end in a longjmp.
Decoded Decode(Job* job) {
  jpeg_decompress_struct* jpeg = &job->jpeg;
  DecodeRequest* request = job->request;
  if (setjmp(job->leave)) return Decoded::kFailed;
  jpeg_create_decompress(jpeg);
  jpeg->client_data = job;
  jpeg->progress = &job->progress;
  jpeg_mem_src(jpeg, const_cast<unsigned char*>(request->bytes), static_cast<unsigned long>(request->size));  // NOLINT: libjpeg's type
  jpeg_read_header(jpeg, TRUE);
  if (jpeg->num_components != 1 && jpeg->num_components != 3) return Decoded::kNotMine;  // CMYK
  if (!PlausiblePixels(jpeg->image_height, jpeg->image_width, request->size, request->most_pixels)) {
    std::snprintf(request->message, sizeof(request->message),
                  "%u x %u pixels are too many for a file of %zu bytes, or more than %.0f (OPENCV_IO_MAX_IMAGE_PIXELS)", jpeg->image_width,
                  jpeg->image_height, request->size, request->most_pixels);
    return Decoded::kFailed;
  }
  request->channels = request->unchanged ? jpeg->num_components : request->gray ? 1 : 3;
  jpeg->out_color_space = request->channels == 1 ? JCS_GRAYSCALE : request->blue_first ? JCS_EXT_BGR : JCS_EXT_RGB;
  int64_t window[4] = {0, 0, jpeg->image_height, jpeg->image_width};
  int eighths = 8;
  if (request->choose) request->choose(request->context, window[2], window[3], window, &eighths);
  jpeg->scale_num = static_cast<unsigned>(eighths), jpeg->scale_denom = 8;
  jpeg_start_decompress(jpeg);
  uint8_t* to = request->allocate(request->context, window[2], window[3]);
  if (!to) return Decoded::kFailed;
  ReadWindow(jpeg, window, to);
  if (!job->cut_short) return Decoded::kDone;
  std::snprintf(request->message, sizeof(request->message), "the file ends too early");
  return Decoded::kFailed;
}

// One encoding; nothing here has a destructor either.
struct Writing {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jmp_buf leave;
  EncodeRequest* request;
  unsigned char* file;
  unsigned long size;  // NOLINT: libjpeg's type
};

void FailWriting(j_common_ptr jpeg) {
  char text[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, text);
  Writing* w = static_cast<Writing*>(jpeg->client_data);
  std::snprintf(w->request->message, sizeof(w->request->message), "%s", text);
  std::longjmp(w->leave, 1);
}

J_COLOR_SPACE SpaceOf(const EncodeRequest& request) {
  if (request.channels == 1) return JCS_GRAYSCALE;
  if (request.channels == 3) return request.blue_first ? JCS_EXT_BGR : JCS_EXT_RGB;
  return request.blue_first ? JCS_EXT_BGRX : JCS_EXT_RGBX;
}

// Everything that may end in a longjmp. Settings are those of OpenCV: baseline, chroma of half the
// size, the standard's Huffman tables.
bool Encode(Writing* w) {
  jpeg_compress_struct* jpeg = &w->jpeg;
  const EncodeRequest& request = *w->request;
  if (setjmp(w->leave)) return false;
  jpeg_create_compress(jpeg);
  jpeg->client_data = w;
  jpeg_mem_dest(jpeg, &w->file, &w->size);
  jpeg->image_width = static_cast<JDIMENSION>(request.width);
  jpeg->image_height = static_cast<JDIMENSION>(request.height);
  jpeg->input_components = request.channels;
  jpeg->in_color_space = SpaceOf(request);
  jpeg_set_defaults(jpeg);
  jpeg_set_quality(jpeg, std::clamp(request.quality, 0, 100), TRUE);
  jpeg_start_compress(jpeg, TRUE);
  const size_t row = static_cast<size_t>(request.width) * static_cast<size_t>(request.channels);
  while (jpeg->next_scanline < jpeg->image_height) {
    JSAMPROW rows[16];
    const JDIMENSION n = std::min<JDIMENSION>(jpeg->image_height - jpeg->next_scanline, 16);
    for (JDIMENSION i = 0; i < n; ++i) rows[i] = const_cast<JSAMPROW>(request.pixels + (jpeg->next_scanline + i) * row);
    jpeg_write_scanlines(jpeg, rows, n);
  }
  jpeg_finish_compress(jpeg);
  return true;
}

}  // namespace
}  // namespace image
}  // namespace mxnet

extern "C" __attribute__((visibility("default"))) bool MXNET_ENCODE_FUNCTION(mxnet::image::EncodeRequest* request) {
  using namespace mxnet::image;  // NOLINT
  if (request->height > JPEG_MAX_DIMENSION || request->width > JPEG_MAX_DIMENSION) {
    std::snprintf(request->message, sizeof(request->message), "a JPEG file has up to %ld rows and columns",
                  static_cast<long>(JPEG_MAX_DIMENSION));  // NOLINT: libjpeg's type
    return false;
  }
  Writing w;
  std::memset(&w, 0, sizeof(w));
  w.request = request;
  w.jpeg.err = jpeg_std_error(&w.errors);
  w.jpeg.client_data = &w;
  w.errors.error_exit = FailWriting;
  w.errors.output_message = Silent;
  const bool done = Encode(&w) && request->take(request->context, w.file, w.size);
  jpeg_destroy_compress(&w.jpeg);
  std::free(w.file);
  return done;
}

extern "C" __attribute__((visibility("default"))) mxnet::image::Decoded MXNET_DECODE_FUNCTION(mxnet::image::DecodeRequest* request) {
  using namespace mxnet::image;  // NOLINT
  static const uint8_t start[] = {0xff, 0xd8, 0xff};
  if (request->size < sizeof(start) || std::memcmp(request->bytes, start, sizeof(start)) != 0) return Decoded::kNotMine;
  Job job;
  std::memset(&job, 0, sizeof(job));
  job.request = request;
  job.jpeg.err = jpeg_std_error(&job.errors);
  job.jpeg.client_data = &job;
  job.errors.error_exit = Fail;
  job.errors.emit_message = Warn;
  job.errors.output_message = Silent;
  job.progress.progress_monitor = CountScans;
  const Decoded result = Decode(&job);
  jpeg_destroy_decompress(&job.jpeg);
  return result;
}
