// _cvimencode: the bytes of an image file. How many there are is known afterwards, so it works on
// arrays on the calling thread.
#include <memory>
#include <string>
#include <vector>

#include "mxnet/ndarray.h"
#include "operator/image/codec_library.h"
#include "operator/image/image_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"

namespace mxnet {
namespace image {
namespace {

struct EncodeParam : public Parameter<EncodeParam> {
  int encoding, quality;
  bool to_rgb;
  MXNET_DECLARE_PARAM(EncodeParam) {
    MXNET_FIELD(encoding).add_enum("jpg", 0).add_enum("png", 1).set_default(0).describe("The format.");
    MXNET_FIELD(quality).set_default(95).describe("Of JPEG, 0 to 100; of PNG the level of compression, 0 to 9.");
    MXNET_FIELD(to_rgb).set_default(true).describe("The image has red first, else blue first.");
  }
};
MXNET_REGISTER_PARAM(EncodeParam);

struct File {
  std::string operator_name;
  NDArray* out;
  std::unique_ptr<Error> failed;
};

bool Take(void* context, const uint8_t* bytes, size_t size) {
  File* file = static_cast<File*>(context);
  try {
    const Shape shape{static_cast<int64_t>(size)};
    if (file->out->is_none()) file->out->Init(shape, Context::CPU(), kUint8);
    MXNET_CHECK_KIND(file->out->shape() == shape && file->out->dtype() == kUint8, Value)
        << file->operator_name << "out has shape " << file->out->shape() << " and dtype " << DTypeName(file->out->dtype())
        << "; the file is " << size << " bytes of uint8";
    file->out->CopyBytesFrom(bytes, size);
    return true;
  } catch (const Error& e) {
    file->failed.reset(new Error(e));
  } catch (const std::exception& e) {
    file->failed.reset(new Error(Error::Kind::kGeneric, e.what()));
  }
  return false;
}

void Encode(const Attrs& attrs, const std::vector<NDArray*>& in, const std::vector<NDArray*>& out, bool) {
  const auto& p = attrs.get<EncodeParam>();
  const NDArray& image = *in[0];
  const Shape& shape = image.shape();
  MXNET_CHECK_KIND(image.dtype() == kUint8, Type) << Named(attrs) << "data is " << DTypeName(image.dtype()) << "; accepted is uint8";
  const bool right = shape.ndim() == 3 && shape.Size() > 0 && (shape[2] == 1 || shape[2] == 3 || shape[2] == 4);
  MXNET_CHECK_KIND(right, Value) << Named(attrs) << "data has shape " << shape
                                 << "; accepted are (height, width, 1), (height, width, 3) and (height, width, 4), not empty";
  std::vector<uint8_t> pixels(static_cast<size_t>(shape.Size()));
  image.CopyBytesTo(pixels.data(), pixels.size());
  const Codec& codec = p.encoding == 0 ? JpegCodec() : OpenCVCodec();
  MXNET_CHECK_KIND(codec.encode != nullptr, Generic) << Named(attrs) << WhyNot(codec, "encode with another package");
  File file{Named(attrs), out[0], nullptr};
  EncodeRequest request{pixels.data(), shape[0], shape[1], static_cast<int>(shape[2]), !p.to_rgb, p.quality, Take, &file, {0}};
  const bool done = codec.encode(&request);
  if (file.failed) throw *file.failed;
  MXNET_CHECK_KIND(done, Value) << Named(attrs) << "an image of shape " << shape << " could not be encoded: " << request.message;
}

MXNET_REGISTER_OP(_cvimencode)
    .describe(
        "Encodes an image (height, width, channels) of uint8 as a JPEG or PNG file, whose bytes are the result.\n\n1 channel is gray, 3 "
        "are "
        "colours, 4 have transparency, which a JPEG file leaves out. JPEG files have the settings of OpenCV and libjpeg-turbo: baseline, "
        "chroma of half the size. Needs a build with OpenCV.")
    .set_param<EncodeParam>()
    .set_inputs({"data"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape([](const Attrs& attrs, ShapeVector*, ShapeVector* out) {
      AssignShape(attrs, "output", &(*out)[0], Shape{Shape::kUnknownDim});
      return (*out)[0].known();
    })
    .set_infer_type([](const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
      AssignType(attrs, "data", &(*in)[0], kUint8);
      AssignType(attrs, "output", &(*out)[0], kUint8);
      return true;
    })
    .set_zero_gradient()
    .set_array_fn(Encode);

}  // namespace
}  // namespace image
}  // namespace mxnet
