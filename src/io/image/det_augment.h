/* What ImageDetRecordIter does to an image and its boxes. */
#ifndef MXNET_IO_IMAGE_DET_AUGMENT_H_
#define MXNET_IO_IMAGE_DET_AUGMENT_H_

#include <string>
#include <vector>

#include "io/image/pipeline.h"

namespace mxnet {
namespace image {

/* Least and largest. */
struct Range {
  double low = 0, high = 1;
  bool Holds(double v) const { return low <= v && v <= high; }
};

/* One kind of crop. A crop fits if some object has all three of the overlaps. */
struct CropSampler {
  Range scale, ratio{1, 1};  // of the crop's side to the image's; of its relative width to its relative height
  Range overlap;             // intersection over union
  Range sample_coverage;     // part of the crop that the object covers
  Range object_coverage;     // part of the object that is in the crop
  int64_t trials = 25;
};

/* The registration describes them. */
struct DetOptions {
  enum Mode { kForce, kShrink, kFit };
  int64_t height = 0, width = 0;  // of the result
  int resize = -1;
  double crop_probability = 0, pad_probability = 0, max_pad_scale = 1, mirror_probability = 0;
  std::vector<CropSampler> samplers;
  bool emit_by_overlap = false;  // else objects stay whose middle is inside
  double emit_overlap = 0.3;
  int hue = 0, saturation = 0, illumination = 0;
  double contrast = 0;
  double hue_probability = 0, saturation_probability = 0, illumination_probability = 0, contrast_probability = 0;
  int fill = 127, inter_method = 1;
  Mode mode = kForce;
};

/* The numbers of an image: header, then objects of `width` numbers: class, left, top, right, bottom
 * as parts of the image's sides, and whatever else belongs to the object. */
struct DetLabel {
  std::vector<float>* numbers = nullptr;
  size_t header = 0, width = 0;
  size_t count() const { return (numbers->size() - header) / width; }
  float* object(size_t i) const { return numbers->data() + header + i * width; }
};

class DetAugmenter {
 public:
  /* Throws Error(kValue), beginning with [function], for options out of range. */
  DetAugmenter(const std::string& function, const DetOptions& options);
  /*
   * Decodes to canvas->current(), an image of height * width, and changes the label. The image
   * takes the upper left `*inside_height` * `*inside_width` of it; the rest is 0. False, with the
   * reason, for a file that cannot be decoded.
   */
  bool Run(const ImageRecord& image, int channels, Draws* draws, Canvas* canvas, DetLabel* label, int64_t* inside_height,
           int64_t* inside_width, std::string* why) const;

 private:
  void Colour(Draws* draws, Pixels* image) const;
  void Mirror(Canvas* canvas, const DetLabel& label) const;
  void Pad(Draws* draws, Canvas* canvas, const DetLabel& label) const;
  void Crop(Draws* draws, Canvas* canvas, DetLabel* label) const;
  bool DrawCrop(const CropSampler& sampler, Draws* draws, const DetLabel& label, Canvas* canvas, std::vector<float>* kept,
                Window* window) const;
  bool Emit(const Window& window, const Pixels& image, const DetLabel& label, std::vector<float>* kept) const;

  const DetOptions options_;
};

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_IO_IMAGE_DET_AUGMENT_H_
