/*
 * Batches of images from RecordIO files.
 *
 *   RecordSource     which records there are and in which order; read one after the other
 *   RowMaker         one record -> one row of each array of a batch; what iterators differ in
 *   ImageBatches     the data iterator: threads that make rows, and batches that are kept ready
 *
 * A thread takes the next record (RecordSource, under a lock) together with the number of its row,
 * and makes the row without a lock, straight into the batch. Batches are handed out in order. So
 * results do not depend on the number of threads, provided that RowMaker draws its random numbers
 * from Draws, which count from the record's place.
 */
#ifndef MXNET_IO_IMAGE_PIPELINE_H_
#define MXNET_IO_IMAGE_PIPELINE_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/data_iter.h"
#include "operator/image/resample.h"

namespace mxnet {
namespace image {

/* Random numbers that depend on (seed, stream, epoch, position) and how many were drawn: the same
 * whichever thread draws them (Philox 4x32-10; Salmon et al., SC11). */
class Draws {
 public:
  Draws(uint64_t seed, uint32_t stream, uint64_t epoch, uint64_t position);
  uint32_t Bits();
  double Uniform();                            // [0, 1)
  double Uniform(double low, double high);     // [low, high)
  int64_t Integer(int64_t low, int64_t high);  // low to high, both included; low if high < low
  bool Chance(double probability) { return Uniform() < probability; }
  double Normal();  // mean 0, variance 1

 private:
  uint32_t key_[2], counter_[4], words_[4];
  int left_ = 0;
};

/* Streams of Draws, so that what uses one does not shift the others. */
enum DrawStream : uint32_t { kDrawAugment, kDrawNormalize, kDrawOrder, kDrawChunks };

struct RecordOptions {
  std::string function;               // begins messages
  std::string path_imgrec;            // files with semicolons between them are one sequence of records
  std::string path_imgidx;            // one file of `key<tab>offset` lines; empty: none
  int num_parts = 1, part_index = 0;  // of equal numbers of bytes; with an index, of records
  bool shuffle = false;               // all records with an index, else those of a chunk
  int seed = 0;
  uint64_t shuffle_chunk_size = 0;  // MiB; the part is read in pieces of about this size, in random order
  int shuffle_chunk_seed = 0;
};

/* One record. `data` is valid as long as `hold` lives. */
struct Record {
  const char* data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> hold;
  const std::string* file = nullptr;  // lives as long as the source
  uint64_t offset = 0;                // of its head in the file
  uint64_t epoch = 0, position = 0;   // the position-th record that was read in this epoch
  std::string Place() const;          // "'file' at byte offset"
};

/*
 * The records of a part in an epoch's order. One thread at a time.
 *
 * ERRORS   Throws Error(kIO) with file and offset for what is no record. The reader then stands at
 *          the end of the epoch.
 */
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  /* False at the end of the epoch. */
  virtual bool Read(Record* record) = 0;
  /* To the first record of an epoch. If records are shuffled, its number decides the order. A new
   * source is in epoch 0. */
  virtual void StartEpoch(uint64_t epoch) = 0;
  /* Records in an epoch; -1: unknown before they are read. */
  virtual int64_t Count() const { return -1; }
};
/* Throws Error(kValue) for options, Error(kIO) for files. */
std::unique_ptr<RecordSource> OpenRecords(const RecordOptions& options);

/* What im2rec and recordio.pack_img put into a record. Pointers into it need no alignment. */
struct ImageRecord {
  uint64_t id = 0;
  const char* labels = nullptr;  // float32
  size_t label_count = 0;
  const uint8_t* file = nullptr;  // JPEG, PNG, ...
  size_t file_size = 0;
  float label(size_t i) const {
    float v;
    std::memcpy(&v, labels + 4 * i, 4);
    return v;
  }
};
/* Throws Error(kIO) with the place for a record that is too short. `function` begins messages. */
ImageRecord ParseImageRecord(const std::string& function, const Record& record);

/* path_imglist: lines of `id<tab>label ...<tab>path`. */
class LabelList {
 public:
  /* width: labels that are kept of each line, missing ones are 0; -1: as many as the line has.
   * Throws Error(kIO) or, with file and line, Error(kValue). */
  LabelList(const std::string& function, const std::string& path, int width);
  ~LabelList();
  /* Throws Error(kValue) if the list has no such id. */
  const std::vector<float>& Find(uint64_t id) const;
  /* Of the longest line. */
  size_t width() const { return width_; }
  size_t size() const;

 private:
  struct Lines;
  const std::string function_, path_;
  size_t width_ = 0;
  std::unique_ptr<Lines> lines_;
};

/* Bytes (height, width, channels), red first. `pixels` belong to a Canvas. */
struct Pixels {
  uint8_t* pixels = nullptr;
  int64_t height = 0, width = 0, channels = 0;
  size_t size() const { return static_cast<size_t>(height * width * channels); }
};

/*
 * Memory for the image that one thread works on, used again for the next one. Two buffers: an
 * operation reads current() and writes what Next() gives, which becomes current() by Done().
 */
class Canvas {
 public:
  Canvas() = default;
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;
  Pixels& current() { return current_; }
  /* The other buffer, with room for 64 bytes behind the pixels. Throws Error(kMemory). */
  uint8_t* Next(int64_t height, int64_t width, int64_t channels);
  /* The other buffer, as it was last asked for, holds the image now. */
  void Done();

 private:
  std::vector<uint8_t> buffers_[2];
  int other_ = 0;
  Pixels current_, next_;
};

/*
 * Decodes an image file to canvas->current(). channels: 1, 3 or 4 (then the file must have four).
 * `choose`, if there is one, is told the size that the file has and says which part is wanted; only
 * that part is made. It may ask for a smaller image (DecodeRequest). False, with the reason, if the
 * file cannot be decoded. Pixels are those that mx.image.imdecode gives, turned upright where the
 * file says how the camera was held.
 */
using ChooseWindow = Window (*)(void* context, int64_t height, int64_t width, int* eighths);
bool DecodeImage(const uint8_t* file, size_t size, int channels, Canvas* canvas, std::string* why, ChooseWindow choose = nullptr,
                 void* context = nullptr);

/* Operations on canvas->current(). `method` is an inter_method of 0 to 4, see ChooseMethod. */
void ResizeCanvas(Canvas* canvas, int64_t height, int64_t width, int method);
/* Crops in place or by a copy. REQUIRES: the window lies inside. */
void CropCanvas(Canvas* canvas, const Window& window);
void MirrorCanvas(Canvas* canvas);
/* A frame of `fill` around it. */
void PadCanvas(Canvas* canvas, int64_t top, int64_t bottom, int64_t left, int64_t right, int fill);

/* inter_method 9: cubic if the image grows, area if it shrinks, else linear; 10: a random one. */
int ChooseMethod(int inter_method, int64_t from_height, int64_t from_width, int64_t to_height, int64_t to_width, Draws* draws);

/* Adds to hue (0 to 180), lightness and saturation (0 to 255) of red, green, blue pixels, as
 * OpenCV's 8-bit HLS has them. */
void ShiftHls(Pixels* image, int hue, int lightness, int saturation);

/* How bytes become elements: (x - mean) * factor, for each channel; or mean as an image. */
struct Normalization {
  float mean[4] = {0, 0, 0, 0};
  float factor[4] = {1, 1, 1, 1};
  const float* mean_image = nullptr;     // (channels, height, width); then `mean` is not used
  float contrast = 1, illumination = 0;  // ((x - mean) * contrast + illumination) * factor
};
/* (height, width, channels) of bytes to (channels, height, width) of `dtype`, or with channels_last
 * to (height, width, channels): float32, or uint8 and int8, which are limited to their range. */
void WriteElements(const Pixels& image, const Normalization& how, bool mirror, bool channels_last, int dtype, void* to);

/* What one thread has for making rows. */
struct Workspace {
  Canvas canvas;
  std::string text;
  std::vector<float> numbers;
};

struct RowArray {
  Shape shape;  // of one row
  int dtype;
};

/* Makes rows. Several threads call Make at once, each with a workspace of its own. */
class RowMaker {
 public:
  virtual ~RowMaker() = default;
  /* The arrays of a batch: data first, then label. */
  virtual const std::vector<RowArray>& arrays() const = 0;
  /*
   * to[i]: where this row of array i is. False, with the reason in workspace->text, for an image
   * that cannot be decoded: the row is then a copy of another one of the batch, and a warning names
   * the record. Throws Error for what ends the epoch.
   */
  virtual bool Make(const Record& record, Workspace* workspace, char* const* to, uint64_t* index) const = 0;
};

struct BatchOptions {
  std::string function;  // begins messages
  uint32_t batch_size = 0;
  bool round_batch = true;
  uint64_t prefetch = 4;  // batches in memory, with the one that was handed out
  int threads = 4;        // that make rows; no more than processors that may be used
  Context context;        // where batches are
};
/* Throws Error(kValue) for options. */
std::unique_ptr<DataIter> MakeImageBatches(const BatchOptions& options, std::unique_ptr<RecordSource> records,
                                           std::unique_ptr<RowMaker> rows);

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_IO_IMAGE_PIPELINE_H_
