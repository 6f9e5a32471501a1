/* Parameters of ImageRecordIter: names, types, defaults and order of 1.9.1. */
#ifndef MXNET_IO_IMAGE_ITER_PARAMS_H_
#define MXNET_IO_IMAGE_ITER_PARAMS_H_

#include <string>

#include "operator/record/param.h"

namespace mxnet {
namespace image {

/* Fields that ImageDetRecordIter has as well. They stand in the middle of lists whose order is
 * that of 1.9.1, so they are no structs of their own. */
#define MXNET_DECLARE_IMAGE_LIST()                                                               \
  MXNET_FIELD(path_imglist)                                                                      \
      .set_default("")                                                                           \
      .describe(                                                                                 \
          "File with lines of id, labels and path, tabs between them. Labels are taken from it " \
          "rather than from the records.")
#define MXNET_DECLARE_IMAGE_PARTS()                                                                                \
  MXNET_FIELD(data_shape).describe("Shape of an image: (channels, height, width), with 1, 3 or 4 channels.");      \
  MXNET_FIELD(preprocess_threads)                                                                                  \
      .set_lower_bound(1)                                                                                          \
      .set_default(4)                                                                                              \
      .describe("Threads that decode and augment; no more than there are processors.");                            \
  MXNET_FIELD(verbose).set_default(true).describe("Whether it is told what is read.");                             \
  MXNET_FIELD(num_parts).set_default(1).describe("Parts that the records are divided into, for several workers."); \
  MXNET_FIELD(part_index).set_default(0).describe("Which part is read.")
#define MXNET_DECLARE_IMAGE_CHUNKS()                                                                               \
  MXNET_FIELD(shuffle_chunk_size)                                                                                  \
      .set_default(0)                                                                                              \
      .describe("Records are read in pieces of about so many MiB, in random order; 0: in the order of the file."); \
  MXNET_FIELD(shuffle_chunk_seed).set_default(0).describe("Seed of the order of pieces.")
#define MXNET_DECLARE_IMAGE_INTERPOLATION() \
  MXNET_FIELD(inter_method)                 \
      .set_default(1)                       \
      .describe("Interpolation: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9 by what sizes are, 10 a random one.")
#define MXNET_DECLARE_IMAGE_MEANS(deviation, note)                                                                  \
  MXNET_FIELD(mean_r).set_default(0).describe("Mean of red, or of the only channel.");                              \
  MXNET_FIELD(mean_g).set_default(0).describe("Mean of green.");                                                    \
  MXNET_FIELD(mean_b).set_default(0).describe("Mean of blue.");                                                     \
  MXNET_FIELD(mean_a).set_default(0).describe("Mean of the fourth channel.");                                       \
  MXNET_FIELD(std_r).set_default(deviation).describe("Standard deviation of red, or of the only channel" note "."); \
  MXNET_FIELD(std_g).set_default(deviation).describe("Standard deviation of green.");                               \
  MXNET_FIELD(std_b).set_default(deviation).describe("Standard deviation of blue.");                                \
  MXNET_FIELD(std_a).set_default(deviation).describe("Standard deviation of the fourth channel.");                  \
  MXNET_FIELD(scale).set_default(1).describe("Factor of all elements.")

/* Which records there are, and what they hold. */
struct ImageRecParserParam : public Parameter<ImageRecParserParam> {
  std::string path_imglist;
  std::string path_imgrec;
  std::string path_imgidx;
  std::string aug_seq;
  int label_width;
  Shape data_shape;
  int preprocess_threads;
  bool verbose;
  int num_parts;
  int part_index;
  int device_id;
  size_t shuffle_chunk_size;
  int shuffle_chunk_seed;
  std::optional<int> seed_aug;
  MXNET_DECLARE_PARAM(ImageRecParserParam) {
    MXNET_DECLARE_IMAGE_LIST();
    MXNET_FIELD(path_imgrec)
        .set_default("")
        .describe("The RecordIO file; several with semicolons between them are read one after the other.");
    MXNET_FIELD(path_imgidx).set_default("").describe("Index of the RecordIO file. With it, shuffle mixes all records.");
    MXNET_FIELD(aug_seq).set_default("aug_default").describe("Accepted as in MXNet 1.x: aug_default.");
    MXNET_FIELD(label_width).set_lower_bound(1).set_default(1).describe("Labels of an image.");
    MXNET_DECLARE_IMAGE_PARTS();
    MXNET_FIELD(device_id).set_default(0).describe("The GPU that reads page-locked memory, with ctx=cpu_pinned.");
    MXNET_DECLARE_IMAGE_CHUNKS();
    MXNET_FIELD(seed_aug).set_default(std::optional<int>()).describe("Seed of the random augmentation; None: 0.");
  }
};

/* In which order records come. */
struct ImageRecordParam : public Parameter<ImageRecordParam> {
  bool shuffle;
  int seed;
  bool verbose;
  MXNET_DECLARE_PARAM(ImageRecordParam) {
    MXNET_FIELD(shuffle).set_default(false).describe(
        "Whether records come in random order. Without an index, those that are near each "
        "other in the file are mixed.");
    MXNET_FIELD(seed).set_default(0).describe("Seed of the order.");
    MXNET_FIELD(verbose).set_default(true).describe("Whether it is told what is read.");
  }
};

/* What is done to an image, in this order: resizing, warping, padding, cropping, colours. */
struct DefaultAugmentParam : public Parameter<DefaultAugmentParam> {
  int resize;
  bool rand_crop;
  bool random_resized_crop;
  int max_rotate_angle;
  float max_aspect_ratio;
  std::optional<float> min_aspect_ratio;
  float max_shear_ratio;
  int max_crop_size;
  int min_crop_size;
  float max_random_scale;
  float min_random_scale;
  float max_random_area;
  float min_random_area;
  float max_img_size;
  float min_img_size;
  float brightness;
  float contrast;
  float saturation;
  float pca_noise;
  int random_h;
  int random_s;
  int random_l;
  int rotate;
  int fill_value;
  Shape data_shape;
  int inter_method;
  int pad;
  MXNET_DECLARE_PARAM(DefaultAugmentParam) {
    MXNET_FIELD(resize).set_default(-1).describe("Length that the shorter side is resized to first; -1: not at all.");
    MXNET_FIELD(rand_crop).set_default(false).describe("Whether crops are at random places, else in the middle.");
    MXNET_FIELD(random_resized_crop)
        .set_default(false)
        .describe("Whether a random part of the area with a random aspect ratio is cropped and resized.");
    MXNET_FIELD(max_rotate_angle).set_default(0).describe("Random rotation by at most so many degrees.");
    MXNET_FIELD(max_aspect_ratio)
        .set_default(0)
        .describe("Largest aspect ratio if min_aspect_ratio is given, else how far it may lie from 1.");
    MXNET_FIELD(min_aspect_ratio).set_default(std::optional<float>()).describe("Least aspect ratio.");
    MXNET_FIELD(max_shear_ratio).set_default(0).describe("Random shearing of up to this ratio.");
    MXNET_FIELD(max_crop_size)
        .set_default(-1)
        .describe(
            "Largest side of a square crop, which is resized to data_shape; -1: crops have the "
            "size of data_shape.");
    MXNET_FIELD(min_crop_size).set_default(-1).describe("Least side of a square crop.");
    MXNET_FIELD(max_random_scale).set_default(1).describe("Largest factor of random scaling.");
    MXNET_FIELD(min_random_scale).set_default(1).describe("Least factor of random scaling.");
    MXNET_FIELD(max_random_area).set_default(1).describe("Largest part of the area, for random_resized_crop.");
    MXNET_FIELD(min_random_area).set_default(1).describe("Least part of the area, for random_resized_crop.");
    MXNET_FIELD(max_img_size).set_default(1e10f).describe("Largest side after scaling, in pixels.");
    MXNET_FIELD(min_img_size).set_default(0).describe("Least side after scaling, in pixels.");
    MXNET_FIELD(brightness).set_lower_bound(0).set_default(0).describe("Pixels times a random factor of 1 - brightness to 1 + brightness.");
    MXNET_FIELD(contrast).set_lower_bound(0).set_default(0).describe("Distance from the mean gray, times such a factor.");
    MXNET_FIELD(saturation).set_lower_bound(0).set_default(0).describe("Distance from the pixel's gray, times such a factor.");
    MXNET_FIELD(pca_noise).set_lower_bound(0).set_default(0).describe(
        "Standard deviation of shifts along the principal components of colours.");
    MXNET_FIELD(random_h).set_default(0).describe("Largest random change of hue, in units of two degrees.");
    MXNET_FIELD(random_s).set_default(0).describe("Largest random change of saturation, of 255.");
    MXNET_FIELD(random_l).set_default(0).describe("Largest random change of lightness, of 255.");
    MXNET_FIELD(rotate).set_default(-1).describe("Rotation by so many degrees; -1: max_rotate_angle decides.");
    MXNET_FIELD(fill_value).set_default(255).describe("Value of pixels that no pixel of the image covers.");
    MXNET_FIELD(data_shape).describe("Shape of an image.");
    MXNET_DECLARE_IMAGE_INTERPOLATION();
    MXNET_FIELD(pad).set_default(0).describe("Pixels of fill_value around the image.");
  }
};

/* What 1.9.1 has not: how files are decoded and elements are laid out. */
struct ImageDecodeParam : public Parameter<ImageDecodeParam> {
  enum Layout { kChannelsFirst, kChannelsLast };
  bool scaled_decode;
  int layout;
  MXNET_DECLARE_PARAM(ImageDecodeParam) {
    MXNET_FIELD(scaled_decode)
        .set_default(false)
        .describe(
            "Whether a JPEG file that will be resized to half its size or less is decoded to a half, "
            "a quarter or an eighth at once. That is faster, and pixels differ a little. Not in MXNet 1.x.");
    MXNET_FIELD(layout)
        .set_default(kChannelsFirst)
        .add_enum("NCHW", kChannelsFirst)
        .add_enum("NHWC", kChannelsLast)
        .describe("NHWC: data are (batch, height, width, channels). data_shape stays (channels, height, width). Not in MXNet 1.x.");
  }
};

/* How pixels become elements: ((x - mean) * contrast + illumination) * scale / std. */
struct ImageNormalizeParam : public Parameter<ImageNormalizeParam> {
  int seed;
  bool mirror;
  bool rand_mirror;
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
  float max_random_contrast;
  float max_random_illumination;
  bool verbose;
  MXNET_DECLARE_PARAM(ImageNormalizeParam) {
    MXNET_FIELD(seed).set_default(0).describe("Seed of the order.");
    MXNET_FIELD(mirror).set_default(false).describe("Whether images are mirrored.");
    MXNET_FIELD(rand_mirror).set_default(false).describe("Whether each image is mirrored with probability one half.");
    MXNET_FIELD(mean_img).set_default("").describe(
        "File with a mean image, which is made if it is not there. Used rather than the means "
        "of channels.");
    MXNET_DECLARE_IMAGE_MEANS(1, "");
    MXNET_FIELD(max_random_contrast).set_default(0).describe("Contrast is a random factor of 1 - this to 1 + this.");
    MXNET_FIELD(max_random_illumination).set_default(0).describe("Illumination is a random shift of at most this.");
    MXNET_FIELD(verbose).set_default(true).describe("Whether it is told that the mean image is made.");
  }
};

}  // namespace image
}  // namespace mxnet
#endif  // MXNET_IO_IMAGE_ITER_PARAMS_H_
