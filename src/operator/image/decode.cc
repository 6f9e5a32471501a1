// _cvimread, _cvimdecode and _imdecode: images from files. Their shapes are in the files, so they
// work on arrays on the calling thread.
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "mxnet/ndarray.h"
#include "operator/image/codec.h"
#include "operator/image/codec_library.h"
#include "operator/image/image_common.h"
#include "operator/image/orientation.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace image {
namespace {

// Bits of a flag: OpenCV's for "ignore the orientation", which 1.9.1 takes beside others only, and
// one of ours for readers that follow the orientation themselves.
constexpr int kIgnoreOrientation = 128, kAsItLies = 256;
constexpr const char* kFlag =
    "0: one channel of gray, 1: three channels of colour, -1: as many channels as the file has; plus 256: as the pixels lie in the file, "
    "however a camera was held.";

struct ReadParam : public Parameter<ReadParam> {
  std::string filename;
  int flag;
  bool to_rgb;
  MXNET_DECLARE_PARAM(ReadParam) {
    MXNET_FIELD(filename).describe("The file.");
    MXNET_FIELD(flag).set_lower_bound(-1).set_default(1).describe(kFlag);
    MXNET_FIELD(to_rgb).set_default(true).describe("Red first, else blue first.");
  }
};

struct DecodeParam : public Parameter<DecodeParam> {
  int flag;
  bool to_rgb;
  MXNET_DECLARE_PARAM(DecodeParam) {
    MXNET_FIELD(flag).set_lower_bound(-1).set_default(1).describe(kFlag);
    MXNET_FIELD(to_rgb).set_default(true).describe("Red first, else blue first.");
  }
};
// The arguments of 1.9.1, and the file as text.
struct PlanesParam : public Parameter<PlanesParam> {
  int index, x0, y0, x1, y1, c, size;
  std::string str_img;
  MXNET_DECLARE_PARAM(PlanesParam) {
    MXNET_FIELD(index).set_default(0).describe("Which image of `out` is written, if that holds several.");
    MXNET_FIELD(x0).set_default(0).describe("First column.");
    MXNET_FIELD(y0).set_default(0).describe("First row.");
    MXNET_FIELD(x1).set_default(0).describe("Column behind the last; 0: all.");
    MXNET_FIELD(y1).set_default(0).describe("Row behind the last; 0: all.");
    MXNET_FIELD(c).set_default(3).describe("Channels, 1 or 3.");
    MXNET_FIELD(size).set_default(0).describe("Bytes of the file; 0: as many as there are.");
    MXNET_FIELD(str_img).set_default("").describe("The file in Base64.");
  }
};
MXNET_REGISTER_PARAM(PlanesParam);
MXNET_REGISTER_PARAM(ReadParam);
MXNET_REGISTER_PARAM(DecodeParam);

// Where pixels go: a new array, or host memory that is copied into the given one.
struct Target {
  NDArray* out;
  const DecodeRequest* request;
  std::vector<uint8_t> copy;
  bool turned;  // the pixels are put upright on their way to `out`
  Shape shape;
  std::unique_ptr<Error> failed;
};

uint8_t* Allocate(void* context, int64_t height, int64_t width) {
  Target* t = static_cast<Target*>(context);
  try {
    t->shape = Shape{height, width, t->request->channels};
    if (t->out->is_none() && !t->turned) {
      t->out->Init(t->shape, Context::CPU(), kUint8);
      return t->out->data().data<uint8_t>();
    }
    t->copy.resize(static_cast<size_t>(t->shape.Size()));
    return t->copy.data();
  } catch (const Error& e) {
    t->failed.reset(new Error(e));
  } catch (const std::exception& e) {
    t->failed.reset(new Error(Error::Kind::kGeneric, e.what()));
  }
  return nullptr;
}

void TurnPixels(int orientation, Target* t) {
  const int64_t height = t->shape[0], width = t->shape[1], channels = t->shape[2];
  std::vector<uint8_t> upright(t->copy.size());
  PutUpright(t->copy.data(), height, width, channels, orientation, upright.data());
  if (SwapsSides(orientation)) t->shape = Shape{width, height, channels};
  t->copy.swap(upright);
}

void Decode(const Attrs& attrs, const std::vector<uint8_t>& file, const std::string& what, int flag, bool to_rgb, NDArray* out) {
  const bool gray = flag == 0 || flag == kAsItLies;
  MXNET_CHECK_KIND(flag < 0 || gray || (flag & 5) != 0, Value)
      << Named(attrs) << "flag=" << flag
      << "; accepted are 0 (gray), 1 (colour), both plus 256 (as the pixels lie), and -1 (as the file is)";
  MXNET_CHECK_KIND(!file.empty(), Value) << Named(attrs) << what << " is empty; accepted is an image file";
  const int orientation = flag < 0 || (flag & (kIgnoreOrientation | kAsItLies)) != 0 ? 1 : JpegOrientation(file.data(), file.size(), false);
  Target target{out, nullptr, {}, orientation != 1, {}, nullptr};
  DecodeRequest request{file.data(), file.size(), gray, !to_rgb, Allocate, &target, {0}, flag < 0};
  target.request = &request;
  const Decoded done = DecodeFile(&request, Named(attrs));
  if (target.failed) throw *target.failed;
  MXNET_CHECK_KIND(done != Decoded::kNotMine, Value)
      << Named(attrs) << what << " is of no known format; accepted are JPEG, PNG, BMP, TIFF, WebP and PNM files";
  MXNET_CHECK_KIND(done == Decoded::kDone, Value) << Named(attrs) << what << " cannot be decoded: " << request.message;
  if (target.copy.empty()) return;
  if (target.turned) TurnPixels(orientation, &target);
  if (out->is_none()) out->Init(target.shape, Context::CPU(), kUint8);
  MXNET_CHECK_KIND(out->shape() == target.shape && out->dtype() == kUint8, Value)
      << Named(attrs) << "out has shape " << out->shape() << " and dtype " << DTypeName(out->dtype()) << "; the image is " << target.shape
      << " of uint8";
  out->CopyBytesFrom(target.copy.data(), target.copy.size());
}

std::vector<uint8_t> ReadFile(const Attrs& attrs, const std::string& name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "rb"), std::fclose);
  struct stat info;
  MXNET_CHECK_KIND(file && fstat(fileno(file.get()), &info) == 0, IO)
      << Named(attrs) << "cannot open '" << name << "': " << std::generic_category().message(errno);
  MXNET_CHECK_KIND(S_ISREG(info.st_mode), IO) << Named(attrs) << "'" << name << "' is no file";  // a device may have no end
  std::vector<uint8_t> bytes(static_cast<size_t>(info.st_size));
  MXNET_CHECK_KIND(std::fread(bytes.data(), 1, bytes.size(), file.get()) == bytes.size(), IO)
      << Named(attrs) << "cannot read '" << name << "'";
  return bytes;
}

void Read(const Attrs& attrs, const std::vector<NDArray*>&, const std::vector<NDArray*>& out, bool) {
  const auto& p = attrs.get<ReadParam>();
  Decode(attrs, ReadFile(attrs, p.filename), "'" + p.filename + "'", p.flag, p.to_rgb, out[0]);
}

void DecodeBuffer(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const auto& p = attrs.get<DecodeParam>();
  MXNET_CHECK_KIND(in[0]->dtype() == kUint8, Type) << Named(attrs) << "buf is " << DTypeName(in[0]->dtype()) << "; accepted is uint8";
  std::vector<uint8_t> file(static_cast<size_t>(in[0]->shape().Size()));
  if (!file.empty()) in[0]->CopyBytesTo(file.data(), file.size());
  Decode(attrs, file, "buf", p.flag, p.to_rgb, out[0]);
}

// RFC 4648; stops at the first other character.
std::vector<uint8_t> FromBase64(const std::string& text) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> bytes;
  uint32_t bits = 0;
  int held = 0;
  for (char c : text) {
    const size_t digit = digits.find(c);
    if (digit == std::string::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<uint8_t>(bits >> held));
  }
  return bytes;
}

// mean -> planes of the image, less the mean if that has elements
void DecodePlanes(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const auto& p = attrs.get<PlanesParam>();
  std::vector<uint8_t> file = FromBase64(p.str_img);
  MXNET_CHECK_KIND(p.c == 1 || p.c == 3, Value) << Named(attrs) << "c=" << p.c << "; accepted are 1 and 3";
  MXNET_CHECK_KIND(p.size >= 0 && static_cast<size_t>(p.size) <= file.size(), Value)
      << Named(attrs) << "size=" << p.size << "; str_img has " << file.size() << " bytes";
  if (p.size > 0) file.resize(static_cast<size_t>(p.size));
  NDArray image;
  Decode(attrs, file, "str_img", p.c == 1 ? 0 : 1, true, &image);
  const int64_t height = image.shape()[0], width = image.shape()[1], x1 = p.x1 == 0 ? width : p.x1, y1 = p.y1 == 0 ? height : p.y1;
  MXNET_CHECK_KIND(p.x0 >= 0 && p.y0 >= 0 && p.x0 < x1 && p.y0 < y1 && x1 <= width && y1 <= height, Value)
      << Named(attrs) << "columns " << p.x0 << " to " << x1 << " and rows " << p.y0 << " to " << y1 << " of an image of " << width << " x "
      << height;
  const Shape shape{p.c, y1 - p.y0, x1 - p.x0};
  std::vector<float> mean(static_cast<size_t>(in[0]->shape().Size())), planes(static_cast<size_t>(shape.Size()));
  MXNET_CHECK_KIND(in[0]->dtype() == kFloat32 && (mean.empty() || in[0]->shape() == shape), Value)
      << Named(attrs) << "mean is " << in[0]->shape() << " of " << DTypeName(in[0]->dtype()) << "; accepted are " << shape
      << " of float32, and an array without elements";
  if (!mean.empty()) in[0]->CopyBytesTo(mean.data(), mean.size() * sizeof(float));
  const uint8_t* pixels = image.data().data<uint8_t>();
  size_t at = 0;
  for (int64_t c = 0; c < p.c; ++c)
    for (int64_t y = p.y0; y < y1; ++y)
      for (int64_t x = p.x0; x < x1; ++x, ++at)
        planes[at] = static_cast<float>(pixels[(y * width + x) * p.c + c]) - (mean.empty() ? 0.0f : mean[at]);
  if (out[0]->is_none()) out[0]->Init(shape, Context::CPU(), kFloat32);
  NDArray one = out[0]->shape().ndim() == 4 ? out[0]->At(p.index) : *out[0];
  MXNET_CHECK_KIND(one.shape() == shape && one.dtype() == kFloat32, Value)
      << Named(attrs) << "out has images of " << one.shape() << " and " << DTypeName(one.dtype()) << "; the result is " << shape
      << " of float32";
  one.CopyBytesFrom(planes.data(), planes.size() * sizeof(float));
}

bool ImageShape(const Attrs& attrs, ShapeVector*, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], Shape{Shape::kUnknownDim, Shape::kUnknownDim, Shape::kUnknownDim});
  return (*out)[0].known();
}

bool ImageType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  if (!in->empty()) AssignType(attrs, "buf", &(*in)[0], kUint8);
  AssignType(attrs, "output", &(*out)[0], kUint8);
  return true;
}

constexpr const char* kFormats =
    "\n\nJPEG, PNG, BMP, TIFF, WebP and PNM files, to (height, width, channels) of uint8. JPEG files of cameras are put upright: those "
    "that begin with an Exif segment, and only with a flag of 0 or 1. 256 more leaves them as they lie. Transparency is not followed. "
    "Needs a build with OpenCV.";

MXNET_REGISTER_OP(_cvimread)
    .describe(std::string("Reads an image file.") + kFormats)
    .alias("_npi_cvimread")
    .set_param<ReadParam>()
    .set_inputs({})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ImageShape)
    .set_infer_type(ImageType)
    .set_zero_gradient()
    .set_array_fn(Read);

MXNET_REGISTER_OP(_cvimdecode)
    .describe(std::string("Decodes an image file whose bytes are in `buf`.") + kFormats)
    .alias("_npi_cvimdecode")
    .set_param<DecodeParam>()
    .set_inputs({"buf"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(ImageShape)
    .set_infer_type(ImageType)
    .set_zero_gradient()
    .set_array_fn(DecodeBuffer);

MXNET_REGISTER_OP(_imdecode)
    .describe(std::string("Decodes the image file in `str_img` to planes (c, height, width) of float32, less `mean`.") + kFormats)
    .set_param<PlanesParam>()
    .set_inputs({"mean"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape([](const Attrs& attrs, ShapeVector*, ShapeVector* out) {
      // three dimensions, or the four of an array of several images
      if ((*out)[0].ndim_known() && (*out)[0].ndim() == 4) return (*out)[0].known();
      return ImageShape(attrs, nullptr, out);
    })
    .set_infer_type([](const Attrs& attrs, std::vector<int>*, std::vector<int>* out) {
      AssignType(attrs, "output", &(*out)[0], kFloat32);
      return true;
    })
    .set_zero_gradient()
    .set_array_fn(DecodePlanes);

}  // namespace
}  // namespace image
}  // namespace mxnet
