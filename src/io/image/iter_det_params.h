/* Parameters of ImageDetRecordIter: names, types, defaults and order of 1.9.1. */
#ifndef MXNET_IO_IMAGE_ITER_DET_PARAMS_H_
#define MXNET_IO_IMAGE_ITER_DET_PARAMS_H_

#include <string>

#include "io/image/iter_params.h"
#include "operator/record/param.h"
#include "operator/record/tuple_field.h"

namespace mxnet {
namespace image {

/* Which records there are, and what they hold. */
struct ImageDetRecParserParam : public Parameter<ImageDetRecParserParam> {
  std::string path_imglist;
  std::string path_imgrec;
  std::string aug_seq;
  int label_width;
  Shape data_shape;
  int preprocess_threads;
  bool verbose;
  int num_parts;
  int part_index;
  size_t shuffle_chunk_size;
  int shuffle_chunk_seed;
  int label_pad_width;
  float label_pad_value;
  MXNET_DECLARE_PARAM(ImageDetRecParserParam) {
    MXNET_DECLARE_IMAGE_LIST();
    MXNET_FIELD(path_imgrec)
        .set_default("./data/imgrec.rec")
        .describe("The RecordIO file; several with semicolons between them are read one after the other.");
    MXNET_FIELD(aug_seq).set_default("det_aug_default").describe("Accepted as in MXNet 1.x: det_aug_default.");
    MXNET_FIELD(label_width).set_default(-1).describe("Numbers of an image's label; -1: each has its own.");
    MXNET_DECLARE_IMAGE_PARTS();
    MXNET_DECLARE_IMAGE_CHUNKS();
    MXNET_FIELD(label_pad_width).set_default(0).describe("Numbers that labels have room for; 0: those of the longest one.");
    MXNET_FIELD(label_pad_value).set_default(-1).describe("Value behind the numbers of a label.");
  }
};

/* What is done to an image and its boxes, in this order: resizing, colours, mirroring, padding,
 * cropping, resizing to the data_shape. */
struct DetAugmentParam : public Parameter<DetAugmentParam> {
  enum EmitMode { kCenter, kOverlap };
  int resize;
  float rand_crop_prob;
  Tuple<float> min_crop_scales, max_crop_scales;
  Tuple<float> min_crop_aspect_ratios, max_crop_aspect_ratios;
  Tuple<float> min_crop_overlaps, max_crop_overlaps;
  Tuple<float> min_crop_sample_coverages, max_crop_sample_coverages;
  Tuple<float> min_crop_object_coverages, max_crop_object_coverages;
  int num_crop_sampler;
  int crop_emit_mode;
  float emit_overlap_thresh;
  Shape max_crop_trials;
  float rand_pad_prob;
  float max_pad_scale;
  int max_random_hue;
  float random_hue_prob;
  int max_random_saturation;
  float random_saturation_prob;
  int max_random_illumination;
  float random_illumination_prob;
  float max_random_contrast;
  float random_contrast_prob;
  float rand_mirror_prob;
  int fill_value;
  int inter_method;
  Shape data_shape;
  int resize_mode;
  MXNET_DECLARE_PARAM(DetAugmentParam) {
    MXNET_FIELD(resize).set_default(-1).describe("Length that the shorter side is resized to first; -1: not at all.");
    MXNET_FIELD(rand_crop_prob).set_default(0).describe("Probability of a crop.");
    MXNET_FIELD(min_crop_scales)
        .set_default(Tuple<float>({0.f}))
        .describe("Least scale of crops to the image, for each sampler or for all of them.");
    MXNET_FIELD(max_crop_scales).set_default(Tuple<float>({1.f})).describe("Largest scale of crops.");
    MXNET_FIELD(min_crop_aspect_ratios)
        .set_default(Tuple<float>({1.f}))
        .describe("Least ratio of a crop's part of the width to its part of the height.");
    MXNET_FIELD(max_crop_aspect_ratios).set_default(Tuple<float>({1.f})).describe("Largest such ratio.");
    MXNET_FIELD(min_crop_overlaps)
        .set_default(Tuple<float>({0.f}))
        .describe("A crop fits if some object has at least this intersection over union with it.");
    MXNET_FIELD(max_crop_overlaps).set_default(Tuple<float>({1.f})).describe("And at most this one.");
    MXNET_FIELD(min_crop_sample_coverages)
        .set_default(Tuple<float>({0.f}))
        .describe("The same object covers at least this part of the crop.");
    MXNET_FIELD(max_crop_sample_coverages).set_default(Tuple<float>({1.f})).describe("And at most this part.");
    MXNET_FIELD(min_crop_object_coverages)
        .set_default(Tuple<float>({0.f}))
        .describe("At least this part of the same object is in the crop.");
    MXNET_FIELD(max_crop_object_coverages).set_default(Tuple<float>({1.f})).describe("And at most this part.");
    MXNET_FIELD(num_crop_sampler)
        .set_default(1)
        .set_range(1, 1024)
        .describe("Samplers, which are tried in random order until one finds a crop.");
    MXNET_FIELD(crop_emit_mode)
        .add_enum("center", kCenter)
        .add_enum("overlap", kOverlap)
        .set_default(kCenter)
        .describe("Objects stay whose middle is in the crop, or that are in it with more than emit_overlap_thresh of their area.");
    MXNET_FIELD(emit_overlap_thresh).set_default(0.3f).describe("For crop_emit_mode overlap.");
    MXNET_FIELD(max_crop_trials).set_default(Shape({25})).describe("Crops that each sampler draws.");
    MXNET_FIELD(rand_pad_prob).set_default(0).describe("Probability of padding.");
    MXNET_FIELD(max_pad_scale).set_default(1).describe("Largest scale of the padded image to the image.");
    MXNET_FIELD(max_random_hue).set_default(0).describe("Largest random change of hue, in units of two degrees.");
    MXNET_FIELD(random_hue_prob).set_default(0).describe("Its probability.");
    MXNET_FIELD(max_random_saturation).set_default(0).describe("Largest random change of saturation, of 255.");
    MXNET_FIELD(random_saturation_prob).set_default(0).describe("Its probability.");
    MXNET_FIELD(max_random_illumination).set_default(0).describe("Largest random change of lightness, of 255.");
    MXNET_FIELD(random_illumination_prob).set_default(0).describe("Its probability.");
    MXNET_FIELD(max_random_contrast).set_default(0).describe("Pixels times a random factor of 1 - this to 1 + this.");
    MXNET_FIELD(random_contrast_prob).set_default(0).describe("Its probability.");
    MXNET_FIELD(rand_mirror_prob).set_default(0).describe("Probability of mirroring.");
    MXNET_FIELD(fill_value).set_default(127).describe("Value around a padded image.");
    MXNET_DECLARE_IMAGE_INTERPOLATION();
    MXNET_FIELD(data_shape).describe("Shape of an image.");
    MXNET_FIELD(resize_mode)
        .add_enum("force", 0)
        .add_enum("shrink", 1)
        .add_enum("fit", 2)
        .set_default(0)
        .describe(
            "force: to the data_shape; fit: to the largest size in it with the image's ratio; shrink: the same, but never larger "
            "than the image. The rest of the data_shape, right and below, is 0.");
  }
};

/* How pixels become elements: (x - mean) * scale / std. */
struct ImageDetNormalizeParam : public Parameter<ImageDetNormalizeParam> {
  int seed;
  std::string mean_img;
  float mean_r;
  float mean_g;
  float mean_b;
  float mean_a;
  float std_r;
  float std_g;
  float std_b;
  float std_a;
  float scale;
  bool verbose;
  MXNET_DECLARE_PARAM(ImageDetNormalizeParam) {
    MXNET_FIELD(seed).set_default(0).describe("Seed of the order and of the augmentation.");
    MXNET_FIELD(mean_img).set_default("").describe("File with a mean image, used rather than the means of channels.");
    MXNET_DECLARE_IMAGE_MEANS(0, "; 0: not divided by");
    MXNET_FIELD(verbose).set_default(true).describe("Whether it is told what is read.");
  }
};

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_IO_IMAGE_ITER_DET_PARAMS_H_
