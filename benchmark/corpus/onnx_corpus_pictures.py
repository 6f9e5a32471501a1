"""Detectors of ultralytics and parts of diffusers' pipelines in the corpus, with random weights."""
import contextlib
import os

import numpy as np

import onnx_models
from onnx_models import Made, draw, images

YOLOS = """yolov3-tiny yolov5n yolov5n6 yolov6n yolov8n yolov8n-cls yolov8n-obb yolov8n-pose yolov8n-seg yolov8n-p6 yolov8n-ghost
yolov9t yolov10n yolo11n yolo11n-cls yolo11n-obb yolo11n-pose yolo11n-seg yolo12n yolo26n yolo26n-seg yolo26n-pose
rtdetr-resnet50 yoloe-11s yolov8s-worldv2""".split()
NMS = ("yolov8n", "yolo11n", "yolov5n", "yolo11n-seg", "yolo11n-pose", "yolo11n-obb")   # whose files drop boxes themselves


def yolo(kind, **options):
    def make(folder, name):
        os.environ.update(YOLO_OFFLINE="1", YOLO_AUTOINSTALL="0", YOLO_CONFIG_DIR=folder)
        import torch
        import ultralytics
        torch.manual_seed(0)
        with contextlib.chdir(folder):
            net = (ultralytics.RTDETR if "rtdetr" in kind else ultralytics.YOLO)(kind + ".yaml")
            os.replace(net.export(format="onnx", imgsz=192, simplify=False, **options), name + ".onnx")
        return onnx_models.reference_of(folder, name)
    return make


def photo(free):
    def inputs(batch):
        shape = (1, 3, 192, 192) if batch else (2, 3, 128, 256)
        return {"images": (images(shape) * 0.2 + 0.5).clip(0, 1).astype("float32")} if batch or free else None
    return inputs


# Parts of pipelines: inputs by name, whose first size is free.

def noise(*shape, **more):
    """A picture of noise, a time, and what else there is."""
    def inputs(batch):
        n = batch or 3
        given = {"sample": shape, **more}
        made = {k: draw(k, n).normal(size=(n, *s)).astype("float32") for k, s in given.items()}
        return {"sample": made.pop("sample"), "time": (np.arange(n) * 37 + 11).astype("float32"), **made}
    return inputs


def plain(*shape, **more):
    def inputs(batch):
        made = noise(*shape, **more)(batch)
        made.pop("time")
        return made
    return inputs


SMALL = {"block_out_channels": (32, 64), "layers_per_block": 1, "norm_num_groups": 8}
CROSS = {**SMALL, "sample_size": 16, "cross_attention_dim": 32, "attention_head_dim": 8,
         "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"), "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D")}
DIT = {"num_attention_heads": 2, "attention_head_dim": 16, "num_layers": 2}
# name -> class, configuration, inputs, how these are called; behind _ is a part of the net
PARTS = {
    "unet": ("UNet2DConditionModel", CROSS, noise(4, 16, 16, words=(7, 32)), ("sample", "timestep", "encoder_hidden_states")),
    "unet_linear": ("UNet2DConditionModel", {**CROSS, "use_linear_projection": True, "transformer_layers_per_block": 2},
                    noise(4, 16, 16, words=(7, 32)), ("sample", "timestep", "encoder_hidden_states")),
    "unet_xl": ("UNet2DConditionModel", {**CROSS, "addition_embed_type": "text_time", "addition_time_embed_dim": 8,
                                         "projection_class_embeddings_input_dim": 80, "use_linear_projection": True},
                noise(4, 16, 16, words=(7, 32), text_embeds=(32,), time_ids=(6,)),
                ("sample", "timestep", "encoder_hidden_states", "+text_embeds", "+time_ids")),
    "unet_plain": ("UNet2DModel", {**SMALL, "sample_size": 16, "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
                                   "up_block_types": ("AttnUpBlock2D", "UpBlock2D")}, noise(3, 16, 16), ("sample", "timestep")),
    "unet_3d": ("UNet3DConditionModel", {**SMALL, "cross_attention_dim": 32, "attention_head_dim": 8,
                                         "down_block_types": ("CrossAttnDownBlock3D", "DownBlock3D"),
                                         "up_block_types": ("UpBlock3D", "CrossAttnUpBlock3D")},
                noise(4, 3, 16, 16, words=(7, 32)), ("sample", "timestep", "encoder_hidden_states")),
    "controlnet": ("ControlNetModel", {k: v for k, v in CROSS.items() if k not in ("sample_size", "up_block_types")}
                   | {"conditioning_embedding_out_channels": (8, 16)},
                   noise(4, 16, 16, words=(7, 32), hint=(3, 32, 32)), ("sample", "timestep", "encoder_hidden_states", "controlnet_cond")),
    "vae_encoder": ("AutoencoderKL", {**SMALL, "down_block_types": ("DownEncoderBlock2D",) * 2,
                                      "up_block_types": ("UpDecoderBlock2D",) * 2}, plain(3, 32, 32), ("x", "_encoder")),
    "vae_decoder": ("AutoencoderKL", {**SMALL, "down_block_types": ("DownEncoderBlock2D",) * 2,
                                      "up_block_types": ("UpDecoderBlock2D",) * 2}, plain(4, 16, 16), ("sample", "_decoder")),
    "vae_tiny": ("AutoencoderTiny", {"encoder_block_out_channels": (16, 16), "decoder_block_out_channels": (16, 16),
                                     "num_encoder_blocks": (1, 1), "num_decoder_blocks": (1, 1)}, plain(3, 32, 32), ("sample",)),
    "vq": ("VQModel", {**SMALL, "down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2},
           plain(3, 32, 32), ("sample",)),
    "vae_dc": ("AutoencoderDC", {"encoder_block_out_channels": (16, 32), "decoder_block_out_channels": (16, 32), "latent_channels": 8,
                                 "encoder_layers_per_block": (1, 1), "decoder_layers_per_block": (1, 1),
                                 "encoder_block_types": ("ResBlock", "EfficientViTBlock"), "attention_head_dim": 16,
                                 "decoder_block_types": ("ResBlock", "EfficientViTBlock"),
                                 "encoder_qkv_multiscales": ((), (5,)), "decoder_qkv_multiscales": ((), (5,))},
               plain(3, 32, 32), ("sample",)),
    "sound_vae": ("AutoencoderOobleck", {"encoder_hidden_size": 16, "downsampling_ratios": [2, 4], "channel_multiples": [1, 2],
                                         "decoder_channels": 16, "decoder_input_channels": 16}, plain(16, 20), ("x", "_decoder")),
    "video_vae": ("AutoencoderKLWan", {"base_dim": 8, "z_dim": 4, "dim_mult": [1, 2], "num_res_blocks": 1, "attn_scales": [],
                                       "temperal_downsample": [False], "latents_mean": [0.0] * 4, "latents_std": [1.0] * 4},
                  plain(3, 1, 16, 16), ("sample",)),
    "dit": ("DiTTransformer2DModel", {**DIT, "sample_size": 8, "in_channels": 4, "norm_num_groups": 8, "num_embeds_ada_norm": 100},
            noise(4, 8, 8), ("hidden_states", "timestep", "!class_labels")),
    "pixart": ("PixArtTransformer2DModel", {**DIT, "sample_size": 8, "cross_attention_dim": 32, "caption_channels": 24,
                                            "norm_num_groups": 8}, noise(4, 8, 8, words=(5, 24)),
               ("hidden_states", "timestep", "encoder_hidden_states")),
    "sd3": ("SD3Transformer2DModel", {**DIT, "sample_size": 8, "in_channels": 4, "out_channels": 4, "joint_attention_dim": 24,
                                      "caption_projection_dim": 32, "pooled_projection_dim": 16, "pos_embed_max_size": 16},
            noise(4, 8, 8, words=(5, 24), pooled=(16,)), ("hidden_states", "timestep", "encoder_hidden_states", "pooled_projections")),
    "flux": ("FluxTransformer2DModel", {**DIT, "in_channels": 16, "num_single_layers": 1, "joint_attention_dim": 24,
                                        "pooled_projection_dim": 16, "axes_dims_rope": [4, 4, 8]},
             noise(12, 16, words=(5, 24), pooled=(16,)),
             ("hidden_states", "timestep", "encoder_hidden_states", "pooled_projections", "?img_ids", "?txt_ids")),
    "sana": ("SanaTransformer2DModel", {"num_attention_heads": 2, "attention_head_dim": 16, "num_layers": 2, "in_channels": 4,
                                        "out_channels": 4, "num_cross_attention_heads": 2, "cross_attention_head_dim": 16,
                                        "cross_attention_dim": 32, "caption_channels": 24, "sample_size": 8},
             noise(4, 8, 8, words=(5, 24)), ("hidden_states", "timestep", "encoder_hidden_states")),
    "auraflow": ("AuraFlowTransformer2DModel", {**DIT, "sample_size": 8, "num_mmdit_layers": 1, "num_single_dit_layers": 1,
                                                "joint_attention_dim": 24, "caption_projection_dim": 32, "pos_embed_max_size": 64},
                 noise(4, 8, 8, words=(5, 24)), ("hidden_states", "timestep", "encoder_hidden_states")),
    "wan": ("WanTransformer3DModel", {**DIT, "patch_size": (1, 2, 2), "in_channels": 4, "out_channels": 4, "text_dim": 24, "freq_dim": 16,
                                      "ffn_dim": 64, "rope_max_seq_len": 32},
            noise(4, 2, 8, 8, words=(5, 24)), ("hidden_states", "timestep", "encoder_hidden_states")),
    "prior": ("PriorTransformer", {**DIT, "embedding_dim": 24, "num_embeddings": 7, "additional_embeddings": 4},
              noise(24, words=(7, 24), given=(24,)), ("hidden_states", "timestep", "encoder_hidden_states", "proj_embedding")),
}


def part(cls, config, names):
    def build():
        import diffusers
        import torch
        net = getattr(diffusers, cls)(**config)
        if hasattr(net, "set_default_attn_processor"):
            net.set_default_attn_processor()
        inner = getattr(net, names[-1][1:]) if names[-1].startswith("_") else net

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = inner

            def forward(self, a, b=None, c=None, d=None, e=None):
                given, added, call = iter((a, b, c, d, e)), {}, {}
                for name in names:
                    if name.startswith("+"):
                        added[name[1:]] = next(given)
                    elif name == "!class_labels":
                        call["class_labels"] = b.long()
                    elif name == "?img_ids":
                        call["img_ids"] = torch.stack([torch.arange(12) * i for i in (0, 1, 2)], 1).float()
                    elif name == "?txt_ids":
                        call["txt_ids"] = torch.zeros(5, 3)
                    elif not name.startswith("_"):
                        call[name] = next(given)
                if added:
                    call["added_cond_kwargs"] = added
                if names[-1].startswith("_"):
                    return self.net(a)
                found = self.net(**call, return_dict=False)
                return found[0] if isinstance(found, (tuple, list)) else found
        return Net()
    return build


# What onnxruntime's optimizer makes of them; it has some operators on GPUs alone.
OPTIMIZED = {"unet": "unet", "unet_xl": "unet", "unet_linear": "unet", "sd3": "mmdit", "flux": "mmdit", "dit": "unet"}
FORMS = ("optimizer", "optimizer, half", "optimizer, no packed keys")


def optimized(base, kind, form):
    about = base

    def make(folder, name):
        from onnxruntime.transformers import optimizer
        from onnxruntime.transformers.fusion_options import FusionOptions
        compute = about.make(folder, name + ".part")
        source = os.path.join(folder, name + ".part.onnx")
        options = FusionOptions(kind)
        if form.endswith("keys"):
            options.enable_packed_kv = options.enable_packed_qkv = False
        made = optimizer.optimize_model(source, model_type=kind, num_heads=0, hidden_size=0, opt_level=0, optimization_options=options)
        if form.endswith("half"):
            made.convert_float_to_float16(keep_io_types=True)
        made.save_model_to_file(os.path.join(folder, name + ".onnx"))
        os.remove(source)
        return compute
    return make


def detectors(corpus):
    for kind in YOLOS:
        for free in (False, True):
            inputs = photo(free)
            corpus[f"pictures.{kind}{'_free' if free else ''}"] = "ultralytics", Made("ultralytics", yolo(kind, dynamic=free), inputs, (1,))
    for kind in NMS:
        corpus[f"pictures.{kind}_nms"] = "ultralytics, NMS", Made("ultralytics", yolo(kind, nms=True, conf=0.0001), photo(False), (1,))
    for opset in (9, 12):
        corpus[f"pictures.yolov8n_opset{opset}"] = "ultralytics", Made("ultralytics", yolo("yolov8n", opset=opset), photo(False), (1,))


def parts(corpus, add):
    for name, (cls, config, inputs, names) in PARTS.items():
        add("diffusers." + name, "diffusers", part(cls, config, names), inputs)
        kind = OPTIMIZED.get(name)
        for form in FORMS if kind else ():
            about = corpus["diffusers." + name][1]
            family = "diffusers, " + form
            corpus[f"diffusers.{name}_{form.replace(', ', '_').replace(' ', '_')}"] = family, Made(
                family, optimized(about, kind, form), inputs, (1,), half=form.endswith("half"))
