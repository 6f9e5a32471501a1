#pragma GCC optimize("fp-contract=off")

#include "io/image/augment.h"

#include <algorithm>
#include <cmath>

#include "io/image/warp.h"
#include "mxnet/base.h"
#include "mxnet/error.h"

namespace mxnet {
namespace image {

/* Sizes are those after each step. */
struct Augmenter::Plan {
  const Augmenter* augmenter;
  Draws* draws;
  struct Step {
    bool done = false;
    int64_t height = 0, width = 0;
    int method = 1;
  };
  int64_t height = 0, width = 0;  // where the plan has come to
  ImageSize file{};               // as it is decoded
  Step resize, warp, grow[2], last;
  double matrix[6] = {1, 0, 0, 0, 1, 0};
  Window crop;
  Window source;      // the part of the file's image that is decoded
  bool part = false;  // it is enough for the crop
  void Reach(Step* step, int64_t new_height, int64_t new_width, int inter_method) {
    step->done = true;
    step->height = std::max<int64_t>(new_height, 1), step->width = std::max<int64_t>(new_width, 1);
    height = step->height, width = step->width, step->method = inter_method;
  }
};

Augmenter::Augmenter(const std::string& function, const AugmentOptions& options) : function_(function), options_(options) {
  const AugmentOptions& o = options_;
  auto check = [&](bool good, const char* what) { MXNET_CHECK_KIND(good, Value) << "[" << function << "] " << what; };
  warps_ = o.max_rotate_angle > 0 || o.max_shear_ratio > 0 || o.rotate > 0 || o.min_scale != 1 || o.max_scale != 1 ||
           (!o.random_resized_crop && (o.min_ratio != 1 || o.max_ratio != 1)) || o.max_img_size != 1e10f || o.min_img_size != 0;
  colours_ =
      o.brightness > 0 || o.contrast > 0 || o.saturation > 0 || o.pca_noise > 0 || o.random_h != 0 || o.random_s != 0 || o.random_l != 0;
  const bool method = (o.inter_method >= 0 && o.inter_method <= 4) || o.inter_method == 9 || o.inter_method == 10;
  MXNET_CHECK_KIND(method, Value) << "[" << function << "] inter_method=" << o.inter_method << "; accepted: 0, 1, 2, 3, 4, 9, 10";
  check(!warps_ || o.inter_method != 0, "inter_method=0 with rotation, shear, scale or aspect ratio; accepted then: 1, 2, 3, 4, 9, 10");
  check(!o.random_resized_crop || (o.min_scale == 1 && o.max_scale == 1 && o.min_crop_size == -1 && o.max_crop_size == -1 && !o.rand_crop),
        "random_resized_crop together with rand_crop, random_scale or crop_size; accepted: it alone");
  check(o.min_area <= o.max_area && o.min_area >= 0, "min_random_area is above max_random_area or below 0; accepted: 0 <= min <= max");
  check(o.min_scale <= o.max_scale && o.min_scale > 0,
        "min_random_scale is above max_random_scale or not above 0; accepted: 0 < min <= max");
  check(o.min_ratio <= o.max_ratio && o.min_ratio > 0,
        "the least aspect ratio is above the largest one or not above 0; accepted: 0 < min <= max");
  check(o.max_crop_size >= o.min_crop_size, "min_crop_size is above max_crop_size; accepted: min <= max");
  check(o.max_crop_size == -1 || o.min_crop_size > 0, "min_crop_size is not above 0 where max_crop_size is given; accepted: 1 or more");
  check(o.pad >= 0, "pad is below 0; accepted: 0 or more");
}

void Augmenter::PlanWarp(Draws* draws, Plan* plan) const {
  const AugmentOptions& o = options_;
  const double shear = draws->Uniform(-o.max_shear_ratio, o.max_shear_ratio);
  int64_t degrees = o.max_rotate_angle > 0 ? draws->Integer(-o.max_rotate_angle, o.max_rotate_angle) : 0;
  if (o.rotate > 0) degrees = o.rotate;
  const double a = std::cos(static_cast<double>(degrees) / 180 * M_PI), b = std::sin(static_cast<double>(degrees) / 180 * M_PI);
  const float scale = static_cast<float>(draws->Uniform(o.min_scale, o.max_scale));
  const double ratio = o.random_resized_crop ? 1 : draws->Uniform(o.min_ratio, o.max_ratio);
  const double across = 2 * static_cast<double>(scale) / (1 + ratio), down = ratio * across;
  auto limited = [&](auto v) { return std::max<decltype(v)>(o.min_img_size, std::min<decltype(v)>(o.max_img_size, v)); };
  const double height = static_cast<double>(plan->height), width = static_cast<double>(plan->width);
  const double new_height = limited(static_cast<double>(scale) * height), new_width = limited(static_cast<double>(scale) * width);
  double* m = plan->matrix;
  m[0] = across * a - shear * b * down, m[1] = across * b + shear * a * down, m[3] = -b * down, m[4] = a * down;
  m[2] = (new_width - (m[0] * width + m[1] * height)) / 2, m[5] = (new_height - (m[3] * width + m[4] * height)) / 2;
  MXNET_CHECK_KIND(new_height < 1e6 && new_width < 1e6, Value) << "[" << function_ << "] an image of " << new_height << " x " << new_width
                                                               << " pixels after scaling; accepted: less than a million each";
  // Pixels are counted in float: 0.9 of 40 are 36.
  const int64_t lines = static_cast<int64_t>(limited(scale * static_cast<float>(plan->height)));
  const int64_t columns = static_cast<int64_t>(limited(scale * static_cast<float>(plan->width)));
  plan->Reach(&plan->warp, lines, columns, ChooseMethod(o.inter_method, plan->height, plan->width, lines, columns, draws));
}

void Augmenter::Place(bool random, int64_t height, int64_t width, Draws* draws, Plan* plan) const {
  plan->crop.height = height, plan->crop.width = width;
  const int64_t down = plan->height - height, across = plan->width - width;
  plan->crop.y = random ? draws->Integer(0, down) : down / 2;
  plan->crop.x = random ? draws->Integer(0, across) : across / 2;
}

// Szegedy et al., 2015: a part of the area with an aspect ratio, if one of ten fits.
bool Augmenter::PlanAreaCrop(Draws* draws, Plan* plan) const {
  const double area = static_cast<double>(plan->height * plan->width);
  for (int i = 0; i < 10; ++i) {
    const double part = draws->Uniform(options_.min_area, options_.max_area) * area,
                 ratio = draws->Uniform(options_.min_ratio, options_.max_ratio);
    int64_t height = std::lround(std::sqrt(part / ratio)), width = std::lround(std::sqrt(part * ratio));
    if (draws->Chance(0.5)) std::swap(height, width);
    if (height < 1 || width < 1 || height > plan->height || width > plan->width) continue;
    Place(true, height, width, draws, plan);
    return true;
  }
  return false;
}

void Augmenter::PlanCrop(Draws* draws, Plan* plan) const {
  const AugmentOptions& o = options_;
  bool chosen = false;
  const bool any_area = o.min_area != 1 || o.max_area != 1 || o.min_ratio != 1 || o.max_ratio != 1;
  if (o.random_resized_crop && any_area) {
    chosen = PlanAreaCrop(draws, plan);
  } else if (o.max_crop_size != -1 || o.min_crop_size != -1) {
    MXNET_CHECK_KIND(plan->height >= o.max_crop_size && plan->width >= o.max_crop_size, Value)
        << "[" << function_ << "] an image of " << plan->height << " x " << plan->width
        << " pixels; accepted: at least max_crop_size=" << o.max_crop_size;
    const int64_t size = draws->Integer(o.min_crop_size, o.max_crop_size);
    Place(o.rand_crop, size, size, draws, plan);
    chosen = true;
  }
  if (chosen) {
    const Window& crop = plan->crop;
    const int method = ChooseMethod(o.inter_method, crop.height, crop.width, o.height, o.width, draws);
    plan->Reach(&plan->last, o.height, o.width, method);
    return;
  }
  // An image that is too small grows: first to the height, then to the width.
  const bool grows = plan->height < o.height || plan->width < o.width;
  const int method = grows ? ChooseMethod(o.inter_method, plan->height, plan->width, o.height, o.width, draws) : 0;
  for (int i = 0; i < 2; ++i) {
    if (i == 0 ? plan->height >= o.height : plan->width >= o.width) continue;
    const int64_t height = i == 0 ? o.height : plan->height * o.width / plan->width;
    plan->Reach(&plan->grow[i], height, i == 0 ? plan->width * o.height / plan->height : o.width, method);
  }
  Place(o.rand_crop, o.height, o.width, draws, plan);
}

// A file that is read in a half, a quarter or an eighth of its size. What follows makes it smaller
// still, or as small. Other eighths take libjpeg longer than the whole.
void Augmenter::PlanScale(int* eighths, Plan* plan) const {
  const bool crops = plan->part && !plan->resize.done && plan->last.done;
  if (!options_.scaled_decode || eighths == nullptr || !(plan->resize.done || crops)) return;
  const Plan::Step& to = crops ? plan->last : plan->resize;
  const int64_t height = crops ? plan->crop.height : plan->file.height, width = crops ? plan->crop.width : plan->file.width;
  for (const int n : {1, 2, 4}) {
    if (height * n / 8 < to.height || width * n / 8 < to.width) continue;
    *eighths = n;
    plan->file.height = (plan->file.height * n + 7) / 8, plan->file.width = (plan->file.width * n + 7) / 8;
    Window* crop = &plan->crop;
    if (crops) *crop = {crop->y * n / 8, crop->x * n / 8, crop->height * n / 8, crop->width * n / 8};
    return;
  }
}

void Augmenter::MakePlan(int64_t height, int64_t width, int* eighths, Draws* draws, Plan* plan) const {
  const AugmentOptions& o = options_;
  plan->height = height, plan->width = width;
  plan->file = {height, width, 0};
  if (o.resize > 0) {
    const int64_t size = o.resize, h = height > width ? size * height / width : size, w = height > width ? size : size * width / height;
    plan->Reach(&plan->resize, h, w, ChooseMethod(o.inter_method, height, width, h, w, draws));
  }
  if (warps_) PlanWarp(draws, plan);
  plan->height += 2 * o.pad, plan->width += 2 * o.pad;
  PlanCrop(draws, plan);
  plan->part = !warps_ && o.pad == 0 && !plan->grow[0].done && !plan->grow[1].done;
  PlanScale(eighths, plan);
  plan->source = {0, 0, plan->file.height, plan->file.width};
  if (!plan->part) return;
  plan->source = plan->crop;
  if (plan->resize.done)
    plan->source =
        ResampleSource(static_cast<Interpolation>(plan->resize.method), plan->file, plan->resize.height, plan->resize.width, plan->crop);
}

Window Augmenter::Choose(void* context, int64_t height, int64_t width, int* eighths) {
  auto* plan = static_cast<Plan*>(context);
  plan->augmenter->MakePlan(height, width, eighths, plan->draws, plan);
  return plan->source;
}

bool Augmenter::Run(const uint8_t* file, size_t size, int channels, Draws* draws, Canvas* canvas, std::string* why) const {
  Plan plan;
  plan.augmenter = this, plan.draws = draws;
  if (!DecodeImage(file, size, channels, canvas, why, Choose, &plan)) return false;
  if (plan.part) {
    if (plan.resize.done) {
      const Pixels from = canvas->current();
      uint8_t* to = canvas->Next(plan.crop.height, plan.crop.width, channels);
      plan.file.channels = channels;
      ResampleWindow(static_cast<Interpolation>(plan.resize.method), from.pixels, plan.file, plan.source, to, plan.resize.height,
                     plan.resize.width, plan.crop);
      canvas->Done();
    }
  } else {
    if (plan.resize.done) ResizeCanvas(canvas, plan.resize.height, plan.resize.width, plan.resize.method);
    const bool cut = plan.warp.done && options_.pad == 0 && !plan.grow[0].done && !plan.grow[1].done;  // only the crop is made
    const Window whole{0, 0, plan.warp.height, plan.warp.width};
    if (plan.warp.done) WarpCanvas(canvas, plan.matrix, cut ? plan.crop : whole, plan.warp.method, options_.fill);
    if (options_.pad > 0) PadCanvas(canvas, options_.pad, options_.pad, options_.pad, options_.pad, options_.fill);
    for (const Plan::Step& step : plan.grow)
      if (step.done) ResizeCanvas(canvas, step.height, step.width, step.method);
    if (!cut) CropCanvas(canvas, plan.crop);
  }
  if (plan.last.done) ResizeCanvas(canvas, plan.last.height, plan.last.width, plan.last.method);
  if (colours_) Colour(draws, &canvas->current());
  return true;
}

namespace {

uint8_t Byte(float v) { return static_cast<uint8_t>(std::lrint(std::min(std::max(v, 0.f), 255.f))); }

// The weights of OpenCV for blue, green, red, as 1.9.1 applies them to red, green, blue.
int Gray(const uint8_t* p) { return (1868 * p[0] + 9617 * p[1] + 4899 * p[2] + (1 << 13)) >> 14; }

// Every byte by a table.
void Linear(Pixels* image, float a, float b) {
  uint8_t table[256];
  for (int i = 0; i < 256; ++i) table[i] = Byte(static_cast<float>(i) * a + b);
  for (size_t i = 0; i < image->size(); ++i) image->pixels[i] = table[image->pixels[i]];
}

float MeanGray(const Pixels& image) {
  const int64_t n = image.height * image.width;
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += image.channels >= 3 ? Gray(image.pixels + i * image.channels) : image.pixels[i];
  return static_cast<float>(static_cast<double>(sum) / static_cast<double>(n));
}

// Krizhevsky et al., 2012: shifts along the principal components of the colours of ImageNet.
void ShiftColours(Pixels* image, float deviation, Draws* draws) {
  static const double values[3] = {55.46, 4.794, 1.148};
  static const double vectors[3][3] = {{-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}};
  double along[3];
  for (int k = 0; k < 3; ++k) along[k] = draws->Normal() * static_cast<double>(deviation) * values[k];
  uint8_t tables[3][256];
  for (int c = 0; c < 3; ++c) {
    const double shift = vectors[c][0] * along[0] + vectors[c][1] * along[1] + vectors[c][2] * along[2];
    for (int i = 0; i < 256; ++i) tables[c][i] = static_cast<uint8_t>(std::min(std::max(i + shift, 0.), 255.));
  }
  for (int64_t i = 0; i < image->height * image->width; ++i)
    for (int c = 0; c < 3; ++c) image->pixels[i * image->channels + c] = tables[c][image->pixels[i * image->channels + c]];
}

}  // namespace

void Augmenter::Colour(Draws* draws, Pixels* image) const {
  const AugmentOptions& o = options_;
  auto around = [&](float range) { return static_cast<float>(1 + draws->Uniform(-range, range)); };
  const bool colour = image->channels == 3;
  if (o.brightness > 0) Linear(image, around(o.brightness), 0);
  if (o.contrast > 0) {
    const float a = around(o.contrast);
    Linear(image, a, (1 - a) * MeanGray(*image));
  }
  if (o.saturation > 0 && colour) {
    const float a = around(o.saturation);
    for (uint8_t *p = image->pixels, *end = p + image->size(); p < end; p += 3) {
      const float gray = (1 - a) * static_cast<float>(Gray(p));
      for (int c = 0; c < 3; ++c) p[c] = Byte(static_cast<float>(p[c]) * a + gray);
    }
  }
  if ((o.random_h != 0 || o.random_s != 0 || o.random_l != 0) && colour) {
    auto within = [&](int range) { return static_cast<int>(draws->Uniform(-1, 1) * range); };
    const int hue = within(o.random_h), saturation = within(o.random_s), lightness = within(o.random_l);
    ShiftHls(image, hue, lightness, saturation);
  }
  if (o.pca_noise > 0 && colour) ShiftColours(image, o.pca_noise, draws);
}

}  // namespace image
}  // namespace mxnet
