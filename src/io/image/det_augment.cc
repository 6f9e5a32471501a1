// Augmentation of images with boxes (W. Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016).
#include "io/image/det_augment.h"

#include <algorithm>
#include <cmath>

#include "mxnet/error.h"

namespace mxnet {
namespace image {
namespace {

// A box as parts of an image's sides.
struct Box {
  double left, top, right, bottom;
  double Area() const { return std::max(0.0, right - left) * std::max(0.0, bottom - top); }
};

Box BoxOf(const float* object) {
  return {static_cast<double>(object[1]), static_cast<double>(object[2]), static_cast<double>(object[3]), static_cast<double>(object[4])};
}

Box BoxOf(const Window& w, const Pixels& image) {
  const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
  return {static_cast<double>(w.x) / width, static_cast<double>(w.y) / height, static_cast<double>(w.x + w.width) / width,
          static_cast<double>(w.y + w.height) / height};
}

double Shared(const Box& a, const Box& b) {
  return Box{std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right), std::min(a.bottom, b.bottom)}.Area();
}

// What the middle `by` of the sides of an image becomes: (x * scale + shift) for both axes.
void Move(const DetLabel& label, double scale_x, double shift_x, double scale_y, double shift_y) {
  for (size_t i = 0; i < label.count(); ++i) {
    float* o = label.object(i);
    for (int k = 1; k < 5; ++k) {
      const bool x = k % 2 == 1;
      o[k] = static_cast<float>(static_cast<double>(o[k]) * (x ? scale_x : scale_y) + (x ? shift_x : shift_y));
    }
  }
}

bool Fits(const CropSampler& sampler, const Box& crop, const DetLabel& label) {
  for (size_t i = 0; i < label.count(); ++i) {
    const Box object = BoxOf(label.object(i));
    const double shared = Shared(crop, object), area = object.Area();
    if (!(area > 0)) continue;
    if (sampler.overlap.Holds(shared / (crop.Area() + area - shared)) && sampler.sample_coverage.Holds(shared / crop.Area()) &&
        sampler.object_coverage.Holds(shared / area))
      return true;
  }
  return false;
}

}  // namespace

DetAugmenter::DetAugmenter(const std::string& function, const DetOptions& options) : options_(options) {
  const DetOptions& o = options_;
  auto check = [&function](bool good, const char* what) { MXNET_CHECK_KIND(good, Value) << "[" << function << "] " << what; };
  const int m = o.inter_method;
  check((m >= 0 && m <= 4) || m == 9 || m == 10, "inter_method; accepted: 0, 1, 2, 3, 4, 9, 10");
  check(o.fill >= 0 && o.fill <= 255, "fill_value; accepted: 0 to 255");
  check(o.max_pad_scale >= 1 && o.max_pad_scale <= 1000, "max_pad_scale; accepted: 1 to 1000");
  check(o.resize == -1 || (o.resize > 0 && o.resize < 65536), "resize; accepted: -1 and 1 to 65535");
  check(o.hue >= 0 && o.saturation >= 0 && o.illumination >= 0 && o.contrast >= 0 && std::isfinite(o.contrast),
        "max_random_hue, max_random_saturation, max_random_illumination and max_random_contrast; accepted: 0 or more");
  for (const CropSampler& s : o.samplers) {
    check(s.scale.low >= 0 && s.scale.low <= s.scale.high && s.scale.high <= 1 && s.scale.high > 0,
          "min_crop_scales and max_crop_scales; accepted: two numbers of 0 to 1 in ascending order");
    check(s.ratio.low > 0 && s.ratio.low <= s.ratio.high,
          "min_crop_aspect_ratios and max_crop_aspect_ratios; accepted: two positive numbers in ascending order");
    for (const Range& r : {s.overlap, s.sample_coverage, s.object_coverage})
      check(r.low >= 0 && r.low <= r.high && r.high <= 1,
            "overlaps and coverages of crops; accepted: two numbers of 0 to 1 in ascending order");
    check(s.trials >= 0, "max_crop_trials; accepted: 0 or more");
  }
}

bool DetAugmenter::Run(const ImageRecord& image, int channels, Draws* draws, Canvas* canvas, DetLabel* label, int64_t* inside_height,
                       int64_t* inside_width, std::string* why) const {
  const DetOptions& o = options_;
  if (!DecodeImage(image.file, image.file_size, channels, canvas, why)) return false;
  auto resize = [&](int64_t height, int64_t width) {
    const Pixels& now = canvas->current();
    if (now.height != height || now.width != width)
      ResizeCanvas(canvas, height, width, ChooseMethod(o.inter_method, now.height, now.width, height, width, draws));
  };
  if (o.resize > 0) {
    const int64_t h = canvas->current().height, w = canvas->current().width, side = std::min(h, w);
    resize(std::max<int64_t>(1, h * o.resize / side), std::max<int64_t>(1, w * o.resize / side));
  }
  Colour(draws, &canvas->current());
  if (draws->Chance(o.mirror_probability)) Mirror(canvas, *label);
  if (draws->Chance(o.pad_probability)) Pad(draws, canvas, *label);
  if (draws->Chance(o.crop_probability)) Crop(draws, canvas, label);
  const double h = static_cast<double>(canvas->current().height), w = static_cast<double>(canvas->current().width);
  *inside_height = o.height, *inside_width = o.width;
  if (o.mode != DetOptions::kForce) {
    double scale = std::min(static_cast<double>(o.height) / h, static_cast<double>(o.width) / w);
    if (o.mode == DetOptions::kShrink) scale = std::min(scale, 1.0);
    constexpr double kRounding = 1e-9;  // a side that is exactly reached is not cut
    *inside_height = std::max<int64_t>(1, static_cast<int64_t>(h * scale + kRounding));
    *inside_width = std::max<int64_t>(1, static_cast<int64_t>(w * scale + kRounding));
  }
  resize(*inside_height, *inside_width);
  if (*inside_height < o.height || *inside_width < o.width) PadCanvas(canvas, 0, o.height - *inside_height, 0, o.width - *inside_width, 0);
  return true;
}

void DetAugmenter::Colour(Draws* draws, Pixels* image) const {
  const DetOptions& o = options_;
  auto shift = [draws](double probability, int most) {
    const bool some = draws->Chance(probability);
    // No larger change makes a difference to 8 bits.
    const int64_t by = std::min<int64_t>(std::max<int64_t>(draws->Integer(-most, most), -255), 255);
    return some ? static_cast<int>(by) : 0;
  };
  const int hue = shift(o.hue_probability, o.hue), saturation = shift(o.saturation_probability, o.saturation);
  const int light = shift(o.illumination_probability, o.illumination);
  if (image->channels == 3 && (hue != 0 || saturation != 0 || light != 0)) ShiftHls(image, hue, light, saturation);
  const bool contrast = draws->Chance(o.contrast_probability);
  const double factor = 1 + draws->Uniform(-o.contrast, o.contrast);
  if (!contrast || o.contrast <= 0) return;
  uint8_t to[256];
  for (int v = 0; v < 256; ++v) to[v] = static_cast<uint8_t>(std::lrint(std::min(std::max(v * factor, 0.0), 255.0)));
  for (size_t i = 0; i < image->size(); ++i) image->pixels[i] = to[image->pixels[i]];
}

void DetAugmenter::Mirror(Canvas* canvas, const DetLabel& label) const {
  MirrorCanvas(canvas);
  for (size_t i = 0; i < label.count(); ++i) {
    float* o = label.object(i);
    const float left = o[1];
    o[1] = 1 - o[3], o[3] = 1 - left;
  }
}

void DetAugmenter::Pad(Draws* draws, Canvas* canvas, const DetLabel& label) const {
  const double scale = draws->Uniform(1, options_.max_pad_scale);
  const int64_t h = canvas->current().height, w = canvas->current().width;
  const auto height = static_cast<int64_t>(static_cast<double>(h) * scale), width = static_cast<int64_t>(static_cast<double>(w) * scale);
  const int64_t top = draws->Integer(0, height - h), left = draws->Integer(0, width - w);
  if (height == h && width == w) return;
  PadCanvas(canvas, top, height - h - top, left, width - w - left, options_.fill);
  const auto tall = static_cast<double>(height), wide = static_cast<double>(width);
  Move(label, static_cast<double>(w) / wide, static_cast<double>(left) / wide, static_cast<double>(h) / tall,
       static_cast<double>(top) / tall);
}

void DetAugmenter::Crop(Draws* draws, Canvas* canvas, DetLabel* label) const {
  std::vector<const CropSampler*> left;
  for (const CropSampler& sampler : options_.samplers) left.push_back(&sampler);
  std::vector<float> kept;
  while (!left.empty()) {
    const auto at = static_cast<size_t>(draws->Integer(0, static_cast<int64_t>(left.size()) - 1));
    Window window;
    if (DrawCrop(*left[at], draws, *label, canvas, &kept, &window)) {
      CropCanvas(canvas, window);
      label->numbers->swap(kept);
      return;
    }
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

bool DetAugmenter::DrawCrop(const CropSampler& sampler, Draws* draws, const DetLabel& label, Canvas* canvas, std::vector<float>* kept,
                            Window* window) const {
  const Pixels& image = canvas->current();
  for (int64_t trial = 0; trial < sampler.trials; ++trial) {
    const double scale = draws->Uniform(sampler.scale.low, sampler.scale.high);
    const double ratio_draw = draws->Uniform(), x = draws->Uniform(), y = draws->Uniform();
    if (!(scale > 0)) continue;
    // No side is longer than the image's.
    const double low = std::max(sampler.ratio.low, scale * scale), high = std::min(sampler.ratio.high, 1 / (scale * scale));
    if (low > high) continue;
    const double root = std::sqrt(low + (high - low) * ratio_draw);
    window->height = std::min(image.height, std::max<int64_t>(1, std::llrint(scale / root * static_cast<double>(image.height))));
    window->width = std::min(image.width, std::max<int64_t>(1, std::llrint(scale * root * static_cast<double>(image.width))));
    window->y = std::llrint(y * static_cast<double>(image.height - window->height));
    window->x = std::llrint(x * static_cast<double>(image.width - window->width));
    if (Fits(sampler, BoxOf(*window, image), label) && Emit(*window, image, label, kept)) return true;
  }
  return false;
}

bool DetAugmenter::Emit(const Window& window, const Pixels& image, const DetLabel& label, std::vector<float>* kept) const {
  const Box crop = BoxOf(window, image);
  const double width = crop.right - crop.left, height = crop.bottom - crop.top;
  kept->assign(label.numbers->begin(), label.numbers->begin() + static_cast<std::ptrdiff_t>(label.header));
  for (size_t i = 0; i < label.count(); ++i) {
    const float* o = label.object(i);
    const Box box = BoxOf(o);
    const double x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2, shared = Shared(crop, box);
    const bool stays = options_.emit_by_overlap ? shared > options_.emit_overlap * box.Area()
                                                : x >= crop.left && x <= crop.right && y >= crop.top && y <= crop.bottom;
    if (!stays || !(shared > 0)) continue;
    const size_t at = kept->size();
    kept->insert(kept->end(), o, o + label.width);
    auto part = [](double v, double from, double size) { return static_cast<float>(std::min(1.0, std::max(0.0, (v - from) / size))); };
    float* moved = kept->data() + at;
    moved[1] = part(box.left, crop.left, width), moved[3] = part(box.right, crop.left, width);
    moved[2] = part(box.top, crop.top, height), moved[4] = part(box.bottom, crop.top, height);
  }
  return kept->size() > label.header;
}

}  // namespace image
}  // namespace mxnet
