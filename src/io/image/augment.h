/* What ImageRecordIter does to an image. */
#ifndef MXNET_IO_IMAGE_AUGMENT_H_
#define MXNET_IO_IMAGE_AUGMENT_H_

#include <string>

#include "io/image/pipeline.h"

namespace mxnet {
namespace image {

/* The parameters of 1.9.1's default augmenter; the registration describes them. */
struct AugmentOptions {
  int64_t height = 0, width = 0;  // of the result
  int resize = -1;
  bool rand_crop = false, random_resized_crop = false;
  int max_rotate_angle = 0, rotate = -1;
  double min_ratio = 1, max_ratio = 1;  // of height to width
  float max_shear_ratio = 0;
  int min_crop_size = -1, max_crop_size = -1;
  float min_scale = 1, max_scale = 1, min_area = 1, max_area = 1;
  float min_img_size = 0, max_img_size = 1e10f;
  float brightness = 0, contrast = 0, saturation = 0, pca_noise = 0;
  int random_h = 0, random_s = 0, random_l = 0;
  int fill = 255, inter_method = 1, pad = 0;
  bool scaled_decode = false;  // not of 1.9.1
};

/* Steps that are decided when the size of the image is known. */
class Augmenter {
 public:
  /* Throws Error(kValue), beginning with [function], for options that contradict each other. */
  Augmenter(const std::string& function, const AugmentOptions& options);
  /*
   * Decodes to canvas->current(), an image of height * width. No pixel is made that does not come
   * into the result, where the steps allow that. False, with the reason, for a file that cannot be
   * decoded. Throws Error(kValue) for an image that is too small.
   */
  bool Run(const uint8_t* file, size_t size, int channels, Draws* draws, Canvas* canvas, std::string* why) const;

 private:
  struct Plan;
  void MakePlan(int64_t height, int64_t width, int* eighths, Draws* draws, Plan* plan) const;
  void PlanScale(int* eighths, Plan* plan) const;
  void PlanWarp(Draws* draws, Plan* plan) const;
  void PlanCrop(Draws* draws, Plan* plan) const;
  bool PlanAreaCrop(Draws* draws, Plan* plan) const;
  void Place(bool random, int64_t height, int64_t width, Draws* draws, Plan* plan) const;
  void Colour(Draws* draws, Pixels* image) const;
  static Window Choose(void* context, int64_t height, int64_t width, int* eighths);

  const std::string function_;
  const AugmentOptions options_;
  bool warps_, colours_;
};

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_IO_IMAGE_AUGMENT_H_
