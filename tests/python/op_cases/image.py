"""Operators of images. Resizing, borders and decoding are compared with 1.9.1 in test_image.py."""
import numpy as np

from op_cases import NUMBERS, NUMBERS_AND_BOOL, rand

IMAGE = (4, 5, 3)
BATCH = (2, 4, 5, 3)
GRAY = np.array([0.299, 0.587, 0.114])


def pixels(shape):
    return rand(shape, 20, 120)   # for all dtypes


def to_tensor(x):
    return np.moveaxis(x, -1, -3) / 255


def normalize(x, mean, std):
    mean, std = (np.reshape(v, (-1, 1, 1)) for v in (mean, std))
    return (x - mean) / std


def crop(data, x, y, width, height):
    return data[..., y:y + height, x:x + width, :]


def brightness(x, min_factor, max_factor):
    return x * min_factor


def contrast(x, min_factor, max_factor):
    gray = x @ GRAY if x.shape[-1] == 3 else x
    return x * min_factor + (1 - min_factor) * gray.mean()


def saturation(x, min_factor, max_factor):
    return x * min_factor + (1 - min_factor) * 0.114 * x[..., 2:]


def half_turn(outputs, inputs, attrs):
    """The complementary colour, whose integral part may be that of the number below."""
    x, out = (np.asarray(v, dtype="float64") for v in (inputs[0], outputs[0]))
    want = x.max(axis=-1, keepdims=True) + x.min(axis=-1, keepdims=True) - x
    np.testing.assert_allclose(out, want, atol=1.001 if outputs[0].dtype.kind in "iu" else 0.5)


def lighting(x, alpha):
    vectors = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
    return x + vectors * np.array([55.46, 4.794, 1.148]) @ np.array(alpha)


def nearest(x, size):
    height, width = x.shape[-3:-1]
    rows = np.arange(size[1]) * height // size[1]
    columns = np.arange(size[0]) * width // size[0]
    return x[..., rows, :, :][..., columns, :]


def border(x, **attrs):
    modes = ["constant", "edge", "symmetric", "wrap", "reflect"]
    sides = [(attrs["top"], attrs["bot"]), (attrs["left"], attrs["right"]), (0, 0)]
    more = dict(constant_values=7) if attrs["type"] == 0 else {}
    return np.pad(x, sides, modes[attrs["type"]], **more)


def same(**factors):
    return dict(min_factor=factors["f"], max_factor=factors["f"])


# The integral part of a colour may fall to either side of a whole number.
LOOSE = {"uint8": 0.06, "int8": 0.06, "int32": 0.06, "int64": 0.06, "float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-6}
BAD_IMAGES = [dict(inputs=[(4, 5)]), dict(inputs=[(4, 5, 2)]), dict(inputs=[(1, 2, 4, 5, 3)])]
CASES = []
for _shape in (IMAGE, BATCH, (3, 4, 2), (1, 300, 1)):
    CASES.append(dict(op=["_image_to_tensor", "_npx__image_to_tensor"], inputs=[pixels(_shape)], ref=to_tensor, dtypes=NUMBERS,
                      out_dtype="float32", empty=[(0, 4, 5, 3)], bad=BAD_IMAGES[:1] + BAD_IMAGES[2:], tol=4))
for _shape, _attrs in [((3, 4, 5), dict(mean=(10, 15, 20), std=(2, 4, 0.5))), ((3, 4, 5), dict(mean=5, std=2)),
                       ((2, 3, 4, 5), dict(mean=(10, 15, 20), std=2)), ((1, 4, 5), dict(mean=3, std=(4,)))]:
    CASES.append(dict(op=["_image_normalize", "_npx__image_normalize"], inputs=[pixels(_shape)], attrs=_attrs, ref=normalize,
                      dtypes=NUMBERS, tol=LOOSE, grad=True, grad2=True, empty=False,
                      bad=[dict(inputs=[(4, 5)]), dict(inputs=[(2, 4, 5)], attrs=dict(mean=0, std=1)),
                           dict(attrs=dict(mean=(1, 2), std=1)), dict(attrs=dict(mean=0, std=(1, 2)))]))
for _shape in (IMAGE, BATCH, (4, 5, 1)):
    CASES.append(dict(op=["_image_crop", "_npx__image_crop"], inputs=[pixels(_shape)], attrs=dict(x=1, y=2, width=3, height=2),
                      ref=crop, dtypes=NUMBERS_AND_BOOL, grad=True,
                      grad2=True, empty=False,
                      bad=BAD_IMAGES + [dict(attrs=dict(dict(x=1, y=2, width=3, height=2), **{k: v})) for k, v in
                                        [("x", -1), ("y", -1), ("x", 3), ("y", 3), ("width", 0), ("height", -2), ("width", 9)]]))
for _way, _axis in (("left_right", -2), ("top_bottom", -3)):
    for _shape in (IMAGE, (3, 7, 1)):
        CASES.append(dict(op=[f"_image_flip_{_way}", f"_npx__image_flip_{_way}"], inputs=[pixels(_shape)],
                          ref=lambda x, axis=_axis: np.flip(x, axis), dtypes=NUMBERS_AND_BOOL, grad=True, grad2=True,
                          bad=BAD_IMAGES + [dict(inputs=[BATCH])]))
        for _p in (0, 1):
            CASES.append(dict(op=[f"_image_random_flip_{_way}", f"_npx__image_random_flip_{_way}"], inputs=[pixels(_shape)],
                              attrs=dict(p=_p), ref=lambda x, p, axis=_axis: np.flip(x, axis) if p else x, dtypes=NUMBERS_AND_BOOL,
                              grad=True, grad2=True, bad=BAD_IMAGES))
COLOUR = dict(dtypes=NUMBERS, tol=LOOSE)
for _shape in (IMAGE, (4, 5, 1), (70, 80, 3)):
    CASES.append(dict(op=["_image_random_brightness", "_npx__image_random_brightness"], inputs=[pixels(_shape)], attrs=same(f=0.75),
                      ref=brightness, bad=BAD_IMAGES + [dict(attrs=dict(min_factor=-1, max_factor=1)), dict(attrs={})], **COLOUR))
    CASES.append(dict(op=["_image_random_contrast", "_npx__image_random_contrast"], inputs=[pixels(_shape)], attrs=same(f=0.75),
                      ref=contrast, bad=BAD_IMAGES, empty=False, **COLOUR))
CASES.append(dict(op=["_image_random_saturation", "_npx__image_random_saturation"], inputs=[pixels(IMAGE)], attrs=same(f=0.75),
                  ref=saturation, bad=BAD_IMAGES, **COLOUR))
CASES.append(dict(op=["_image_random_hue", "_npx__image_random_hue"], inputs=[pixels(IMAGE)], attrs=same(f=0.5), check=half_turn,
                  bad=BAD_IMAGES, **COLOUR))
CASES.append(dict(op=["_image_adjust_lighting", "_npx__image_adjust_lighting"], inputs=[pixels(IMAGE)],
                  attrs=dict(alpha=(0.1, -0.2, 0.3)), ref=lighting, bad=BAD_IMAGES + [dict(attrs=dict(alpha=(1, 2)))], **COLOUR))
for _op, _attrs in [("random_color_jitter", dict(brightness=0, contrast=0, saturation=0, hue=0)), ("random_lighting", dict(alpha_std=0))]:
    CASES.append(dict(op=[f"_image_{_op}", f"_npx__image_{_op}"], inputs=[pixels(IMAGE)], attrs=_attrs, ref=lambda x, **attrs: x,
                      bad=BAD_IMAGES, **COLOUR))
MOVED = dict(dtypes=["uint8", "int8", "int32", "int64", "float32", "float64"], empty=False)   # the nearest pixel
NO_PIXELS = [dict(inputs=[(0, 5, 3)]), dict(inputs=[(4, 0, 3)])]
for _shape in (IMAGE, BATCH, (4, 5, 2)):
    CASES.append(dict(op=["_image_resize", "_npx__image_resize"], inputs=[pixels(_shape)], attrs=dict(size=(7, 3), interp=0),
                      ref=lambda x, size, interp: nearest(x, size),
                      bad=NO_PIXELS + [dict(inputs=[(4, 5)])] + [dict(attrs=a) for a in (
                          {}, dict(size=0), dict(size=(2, -1)), dict(size=(1, 2, 3)), dict(size=2, interp=6), dict(size=2, interp=-1),
                          dict(size=(1 << 40, 2)))], **MOVED))
CASES.append(dict(op=["_image_resize"], inputs=[pixels((4, 9, 3))], attrs=dict(size=3, interp=0, keep_ratio=True),
                  ref=lambda x, size, interp, keep_ratio: nearest(x, (6, 3)), **MOVED))
CASES.append(dict(op=["_cvimresize", "_npi_cvimresize"], inputs=[pixels(IMAGE)], attrs=dict(w=3, h=7, interp=0),
                  ref=lambda x, w, h, interp: nearest(x, (w, h)),
                  bad=NO_PIXELS + [dict(inputs=[BATCH]), dict(attrs=dict(w=0, h=2)), dict(attrs=dict(w=2, h=2, interp=9))], **MOVED))
CASES.append(dict(op=["_image_random_crop", "_npx__image_random_crop"], inputs=[pixels((6, 8, 3))],
                  attrs=dict(xrange=(0.5, 0.5), yrange=(1, 1), width=4, height=2), ref=lambda x, **attrs: x[4:, 2:6],
                  bad=NO_PIXELS + [dict(attrs=dict(width=2, height=2, **{k: v})) for k, v in
                                   [("xrange", (-1, 1)), ("yrange", (0, 2)), ("xrange", (1, 0)), ("xrange", (1,))]]
                  + [dict(attrs=dict(width=0, height=2))], dtypes=NUMBERS, empty=False))
CASES.append(dict(op=["_image_random_resized_crop", "_npx__image_random_resized_crop"], inputs=[pixels((6, 6, 3))],
                  attrs=dict(width=6, height=6, area=(1, 1), ratio=(1, 1)), ref=lambda x, **attrs: x,
                  bad=NO_PIXELS + [dict(attrs=dict(width=2, height=2, **{k: v})) for k, v in
                                   [("area", (-1, 1)), ("area", (0, 2)), ("ratio", (0, 1)), ("ratio", (2, 1)), ("max_trial", -1)]],
                  dtypes=NUMBERS, empty=False))
for _type in range(5):
    for _sides in ((1, 2, 3, 1), (9, 0, 0, 12)):
        CASES.append(dict(op="_cvcopyMakeBorder", inputs=[pixels(IMAGE)],
                          attrs=dict(zip(("top", "bot", "left", "right"), _sides), type=_type, value=7), ref=border, dtypes=NUMBERS,
                          empty=False, bad=[dict(inputs=[(4, 5)]), dict(attrs=dict(top=-1, bot=0, left=0, right=0)),
                                            dict(attrs=dict(top=0, bot=0, left=0, right=0, type=5))]))

COVERED_ELSEWHERE = dict.fromkeys(["_cvimread", "_npi_cvimread", "_cvimdecode", "_npi_cvimdecode", "_imdecode"], "test_image.py")
COVERED_ELSEWHERE["_cvimencode"] = "test_im2rec.py"
