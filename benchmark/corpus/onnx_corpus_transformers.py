"""The transformers package's nets in the corpus: encoders and decoders by their configurations, and
those with two halves, several inputs, heads of tasks or caches."""
import numpy as np

import onnx_models
from onnx_models import draw, images, sounds, words

TEXTS = """albert bert bloom camembert convbert data2vec-text deberta deberta-v2 distilbert electra ernie falcon funnel gemma gpt2
gpt_bigcode gpt_neo gpt_neox gptj ibert llama mistral mobilebert modernbert mpnet mpt nystromformer olmo opt persimmon phi qwen2
rembert roberta roformer squeezebert stablelm starcoder2 xglm xlm xlm-roberta xlnet yoso
big_bird canine codegen cohere ctrl diffllama esm falcon_h1 fnet gemma2 gemma3_text glm gpt_oss granite granitemoe helium jamba
lfm2 longformer luke mamba mamba2 mixtral mra nemotron olmo2 olmoe phi3 phimoe qwen2_moe qwen3 qwen3_moe reformer rwkv
smollm3 splinter xlm-roberta-xl xmod""".split()
PICTURES = """beit bit convnext convnextv2 deit dinov2 efficientnet focalnet levit mobilenet_v1 mobilenet_v2 mobilevit mobilevitv2
poolformer pvt_v2 regnet resnet segformer swiftformer swin swinv2 vit vit_msn yolos
cvt dinat dinov2_with_registers dinov3_convnext dinov3_vit donut-swin glpn hgnet_v2 hiera ijepa imagegpt pvt swin2sr
vit_mae""".split()
SOUNDS = "data2vec-audio hubert sew unispeech wav2vec2 wavlm sew-d unispeech-sat wav2vec2-conformer".split()
SMALL = {"vocab_size": 500, "hidden_size": 64, "embedding_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "intermediate_size": 128, "ffn_dim": 128, "max_position_embeddings": 128,
         "head_dim": 16, "rotary_dim": 16, "pad_token_id": 0,
         "attention_types": [[["global", "local"], 1]], "block_sizes": [1, 1], "d_model": 64, "n_head": 4, "d_head": 16, "d_inner": 128,
         "num_feature_levels": 2, "use_cache": False, "embedding_dim": 64, "intra_bottleneck_size": 32, "true_hidden_size": 32,
         "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4, "hidden_dropout": 0.0,
         "num_local_experts": 4, "num_experts": 4, "n_embd": 64, "dff": 128, "moe_intermediate_size": 64, "expand": 2,
         "shared_expert_intermediate_size": 64, "num_hash_functions": 2}
# Of some kinds: sizes that depend on each other.
SIZES = {
    "squeezebert": {"embedding_size": 64}, "funnel": {"num_hidden_layers": None}, "xlnet": {"max_position_embeddings": None},
    "falcon": {"head_dim": None}, "convnext": {"num_hidden_layers": None}, "convnextv2": {"num_hidden_layers": None},
    "luke": {"entity_vocab_size": 50}, "olmoe": {"num_experts": None, "num_local_experts": None}, "longformer": {"attention_window": 8},
    "big_bird": {"block_size": 4}, "codegen": {"rotary_dim": 8}, "rwkv": {"attention_hidden_size": 64},
    "mamba2": {"num_heads": 8, "n_groups": 2, "head_dim": 16, "chunk_size": 8},
    "reformer": {"hidden_size": 64, "axial_pos_shape": [4, 6], "axial_pos_embds_dim": [32, 32], "attention_head_size": 16,
                 "feed_forward_size": 128, "num_buckets": 4}}
# Layers and words of nets whose widths stay as they are.
SHALLOW = {**dict.fromkeys("""num_hidden_layers num_layers n_layer n_layers encoder_layers decoder_layers num_decoder_layers
num_encoder_layers encoder_num_layers num_fusion_layers""".split(), 2), "vocab_size": 500, "pad_token_id": 0, "bos_token_id": 1,
           "eos_token_id": 2, "decoder_start_token_id": 0, "use_cache": False, "use_pretrained_backbone": False,
           "forced_eos_token_id": None}


def ids(batch, count=24):
    n = batch or 3
    found = words((n, count), 500)
    found = found + 3 - 4 * (found > 495)
    found[:, -1] = 2   # the end of a text
    return found


def text(batch):
    return {"ids": ids(batch), "mask": onnx_models.masks(batch or 3, 24)}


def both(batch):
    return {**text(batch), "decoder": ids(batch, 9)}


def boxes(batch):
    n = batch or 3
    low = draw("boxes").integers(0, 400, (n, 24, 2))
    return {"ids": ids(batch), "boxes": np.concatenate([low, low + 50], 2), "mask": onnx_models.masks(n, 24)}


def captioned(size):
    return lambda batch: {"ids": ids(batch), "x": images((batch or 3, 3, size, size)), "mask": onnx_models.masks(batch or 3, 24)}


def described(size):
    return lambda batch: {"x": images((batch or 3, 3, size, size)), "decoder": ids(batch, 9)}


def spectra(bands, frames, decoder=True):
    """Bands first, or last with a negative count."""
    def inputs(batch):
        x = sounds((batch or 3, bands, frames)) if bands > 0 else sounds((batch or 3, frames, -bands))
        return {"x": x, "decoder": ids(batch, 9)} if decoder else {"x": x}
    return inputs


def numbers(*shape):
    return lambda batch: {"x": sounds((batch or 3, *shape))}


TWO = ["input_ids", "attention_mask", "decoder_input_ids"]
PAIR = ["input_ids", "pixel_values", "attention_mask"]
PICTURE = ["pixel_values"]
# name -> class, inputs, their names, and what its configuration is told.
HEADS = {
    **{kind: (cls, both, TWO, {}) for kind, cls in (
        ("t5", "T5ForConditionalGeneration"), ("mt5", "MT5ForConditionalGeneration"), ("umt5", "UMT5ForConditionalGeneration"),
        ("longt5", "LongT5ForConditionalGeneration"), ("switch_transformers", "SwitchTransformersForConditionalGeneration"),
        ("bart", "BartForConditionalGeneration"), ("mbart", "MBartForConditionalGeneration"), ("marian", "MarianMTModel"),
        ("pegasus", "PegasusForConditionalGeneration"), ("pegasus_x", "PegasusXForConditionalGeneration"),
        ("blenderbot", "BlenderbotForConditionalGeneration"), ("blenderbot-small", "BlenderbotSmallForConditionalGeneration"),
        ("m2m_100", "M2M100ForConditionalGeneration"), ("led", "LEDForConditionalGeneration"), ("plbart", "PLBartForConditionalGeneration"),
        ("bigbird_pegasus", "BigBirdPegasusForConditionalGeneration"), ("mvp", "MvpForConditionalGeneration"))},
    "whisper": ("WhisperForConditionalGeneration", spectra(80, 200), ["input_features", "decoder_input_ids"],
                {"max_source_positions": 100}),
    "speech_to_text": ("Speech2TextForConditionalGeneration", spectra(-80, 96), ["input_features", "decoder_input_ids"], {}),
    "audio-spectrogram-transformer": ("ASTForAudioClassification", spectra(-128, 128, False), ["input_values"], {"max_length": 128}),
    "wav2vec2-ctc": ("Wav2Vec2ForCTC", numbers(8000), ["input_values"], {}),
    "wav2vec2-bert": ("Wav2Vec2BertModel", numbers(48, 160), ["input_features"], {}),
    "moonshine": ("MoonshineForConditionalGeneration", lambda batch: {"x": sounds((batch or 3, 8000)), "decoder": ids(batch, 9)},
                  ["input_values", "decoder_input_ids"], {}),
    "clap-audio": ("ClapAudioModel", lambda batch: {"x": sounds((batch or 3, 1, 1001, 64))}, ["input_features"], {}),
    "encodec": ("EncodecModel", numbers(1, 4800), ["input_values"], {}), "dac": ("DacModel", numbers(1, 4096), ["input_values"], {}),
    "mimi": ("MimiModel", numbers(1, 3840), ["input_values"], {}),
    "vits": ("VitsModel", lambda batch: {"ids": ids(batch)}, ["input_ids"], {"use_stochastic_duration_prediction": False,
                                                                         "noise_scale": 0.0, "noise_scale_duration": 0.0}),
    "univnet": ("UnivNetModel", lambda batch: {"x": sounds((batch or 2, 40, 100)), "noise": sounds((batch or 2, 40, 64), "noise")},
                ["input_features", "noise_sequence"], {}),
    **{kind: (cls, captioned(size), PAIR, {}) for kind, cls, size in (
        ("clip", "CLIPModel", 224), ("altclip", "AltCLIPModel", 224), ("chinese_clip", "ChineseCLIPModel", 224),
        ("align", "AlignModel", 289),
        ("siglip", "SiglipModel", 224), ("blip", "BlipForConditionalGeneration", 384), ("blip-retrieval", "BlipForImageTextRetrieval", 384),
        ("groupvit", "GroupViTModel", 224), ("flava", "FlavaModel", 224), ("vilt", "ViltModel", 384),
        ("bridgetower", "BridgeTowerModel", 288),
        ("git", "GitModel", 224), ("metaclip_2", "MetaClip2Model", 224))},
    "owlvit": ("OwlViTForObjectDetection", lambda batch: {k: v if k == "x" else v[:, -16:] for k, v in captioned(768)(batch).items()},
               PAIR, {}),
    "clipseg": ("CLIPSegForImageSegmentation", captioned(352), PAIR, {}),
    "vision-encoder-decoder": ("VisionEncoderDecoderModel", described(224), ["pixel_values", "decoder_input_ids"], {}),
    "trocr": ("VisionEncoderDecoderModel", described(384), ["pixel_values", "decoder_input_ids"], {}),
    "donut": ("VisionEncoderDecoderModel", described(224), ["pixel_values", "decoder_input_ids"], {}),
    "layoutlm": ("LayoutLMModel", boxes, ["input_ids", "bbox", "attention_mask"], {}),
    "layoutlmv3": ("LayoutLMv3Model", lambda batch: {**boxes(batch), "x": images((batch or 3, 3, 224, 224))},
                   ["input_ids", "bbox", "attention_mask", "pixel_values"], {}),
    "lilt": ("LiltModel", boxes, ["input_ids", "bbox", "attention_mask"], {}),
    "bros": ("BrosModel", lambda batch: {**boxes(batch), "boxes": draw("bros").random((batch or 3, 24, 4)).astype("float32")},
             ["input_ids", "bbox", "attention_mask"], {}),
    "markuplm": ("MarkupLMModel", text, ["input_ids", "attention_mask"], {}),
    "tapas": ("TapasModel", text, ["input_ids", "attention_mask"], {}),
    **{kind: (cls, onnx_models.photos(size), PICTURE, {}) for kind, cls, size in (
        ("detr", "DetrForObjectDetection", 224), ("conditional_detr", "ConditionalDetrForObjectDetection", 224),
        ("deformable_detr", "DeformableDetrForObjectDetection", 224), ("table-transformer", "TableTransformerForObjectDetection", 224),
        ("dab-detr", "DabDetrForObjectDetection", 224), ("rt_detr", "RTDetrForObjectDetection", 320),
        ("d_fine", "DFineForObjectDetection", 320),
        ("rt_detr_v2", "RTDetrV2ForObjectDetection", 320), ("yolos-detection", "YolosForObjectDetection", 224),
        ("rf_detr", "RfDetrForObjectDetection", 384), ("lw_detr", "LwDetrForObjectDetection", 320),
        ("dpt", "DPTForDepthEstimation", 384), ("depth_anything", "DepthAnythingForDepthEstimation", 224),
        ("glpn-depth", "GLPNForDepthEstimation", 224), ("zoedepth", "ZoeDepthForDepthEstimation", 384),
        ("segformer-head", "SegformerForSemanticSegmentation", 224), ("upernet", "UperNetForSemanticSegmentation", 224),
        ("mobilevit-head", "MobileViTForSemanticSegmentation", 256), ("beit-head", "BeitForSemanticSegmentation", 224),
        ("mask2former", "Mask2FormerForUniversalSegmentation", 224), ("maskformer", "MaskFormerForInstanceSegmentation", 224),
        ("swin2sr-upscale", "Swin2SRForImageSuperResolution", 64), ("superpoint", "SuperPointForKeypointDetection", 224),
        ("vitmatte", "VitMatteForImageMatting", 224), ("vitpose", "VitPoseForPoseEstimation", 256), ("sam-vision", "SamVisionModel", 1024),
        ("sam2-vision", "Sam2VisionModel", 1024), ("clip-vision", "CLIPVisionModelWithProjection", 224),
        ("siglip-vision", "SiglipVisionModel", 224),
        ("vit-head", "ViTForImageClassification", 224), ("convnext-head", "ConvNextForImageClassification", 224),
        ("perceiver-images", "PerceiverForImageClassificationConvProcessing", 224), ("efficientloftr", "EfficientLoFTRModel", 224))},
    "timesformer": ("TimesformerModel", lambda batch: {"x": sounds((batch or 2, 8, 3, 224, 224))}, PICTURE, {}),
    "videomae": ("VideoMAEModel", lambda batch: {"x": sounds((batch or 2, 16, 3, 224, 224))}, PICTURE, {}),
    "vivit": ("VivitModel", lambda batch: {"x": sounds((batch or 2, 32, 3, 224, 224))}, PICTURE, {}),
    "patchtst": ("PatchTSTForPrediction", numbers(32, 1), ["past_values"], {}),
    "patchtsmixer": ("PatchTSMixerForPrediction", numbers(32, 1), ["past_values"], {}),
    **{f"{kind}-task": (cls, text, ["input_ids", "attention_mask"], {}) for kind, cls in (
        ("bert", "BertForQuestionAnswering"), ("deberta", "DebertaV2ForTokenClassification"), ("roberta", "RobertaForMaskedLM"),
        ("gpt2", "GPT2ForSequenceClassification"), ("distilbert", "DistilBertForTokenClassification"))},
}
# Decoders that read keys and values of former words.
CACHED = {kind: cls for kind, cls in (
    ("gpt2", "GPT2LMHeadModel"), ("gpt_neo", "GPTNeoForCausalLM"), ("gpt_neox", "GPTNeoXForCausalLM"), ("gptj", "GPTJForCausalLM"),
    ("llama", "LlamaForCausalLM"), ("mistral", "MistralForCausalLM"), ("qwen2", "Qwen2ForCausalLM"), ("qwen3", "Qwen3ForCausalLM"),
    ("gemma", "GemmaForCausalLM"), ("gemma2", "Gemma2ForCausalLM"), ("phi", "PhiForCausalLM"), ("phi3", "Phi3ForCausalLM"),
    ("falcon", "FalconForCausalLM"), ("opt", "OPTForCausalLM"), ("bloom", "BloomForCausalLM"), ("codegen", "CodeGenForCausalLM"),
    ("olmo2", "Olmo2ForCausalLM"), ("stablelm", "StableLmForCausalLM"), ("granite", "GraniteForCausalLM"),
    ("smollm3", "SmolLM3ForCausalLM"))}


def fit(config, values):
    for name, value in values.items():
        if hasattr(config, name) and isinstance(getattr(config, name), (int, type(None))) and not callable(getattr(config, name)):
            setattr(config, name, value)


def configured(kind, values):
    """A configuration with the values that it knows; None among SIZES leaves its own."""
    import transformers
    kinds = transformers.CONFIG_MAPPING[kind]
    plain = kinds()
    small = {k: v for k, v in values.items() if hasattr(plain, k) and type(getattr(plain, k)) in (type(v), type(None))}
    small.update(SIZES.get(kind, {}))
    return kinds(**{k: v for k, v in small.items() if v is not None})


def tensors_of(found):
    """Those of a result, which may hold others and caches."""
    import torch
    if isinstance(found, torch.Tensor):
        return [found] if found.is_floating_point() else []
    if isinstance(found, (tuple, list)):
        return [t for f in found for t in tensors_of(f)]
    return []


def wrapped(net, inputs, outputs):
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, first, second=None, third=None, fourth=None):   # exporters want names
            found = tensors_of(self.net(**dict(zip(inputs, (first, second, third, fourth))), return_dict=False))
            return found[0] if outputs == 1 else tuple(found[:outputs])
    return Net()


def transformer(kind, inputs):
    """inputs: the names that the net gives them."""
    def build():
        import transformers
        small = {k: v for k, v in SMALL.items() if "pixel_values" not in inputs or k == "num_hidden_layers"}
        config = configured(kind, small)
        try:
            net = transformers.AutoModel.from_config(config, attn_implementation="eager")
        except ValueError:   # some have but their own attention
            net = transformers.AutoModel.from_config(config)
        return wrapped(net.float(), inputs, 1)
    return build


def headed(cls, inputs, told):
    def build():
        import transformers
        kind = getattr(transformers, cls)
        if cls == "VisionEncoderDecoderModel":
            encoder = transformers.CONFIG_MAPPING[told["encoder"]](num_hidden_layers=2) if "encoder" in told else transformers.ViTConfig()
            decoder = transformers.CONFIG_MAPPING[told.get("decoder", "gpt2")]()
            config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
        else:
            config = kind.config_class()
        parts = [config] + [v for v in vars(config).values() if isinstance(v, transformers.PretrainedConfig)]
        for part in parts:
            fit(part, SHALLOW)
        for name, value in told.items():
            *path, last = name.split(".")
            if hasattr(config, path[0] if path else last):
                setattr(getattr(config, path[0]) if path else config, last, value)
        config._attn_implementation = "eager"
        return wrapped(kind(config).float(), inputs, 1)
    return build


class Cached:
    """One word behind some whose keys and values are given, in two layers. By the older exporter
    alone: torch.export wants to know that the mask is one longer than they."""

    def __init__(self, kind, cls):
        self.kind, self.cls = kind, cls
        self.shape = None

    def build(self):
        import torch
        import transformers
        net = getattr(transformers, self.cls)(configured(self.kind, SMALL | {"use_cache": True})).float()
        net.set_attn_implementation("eager")

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = net

            def forward(self, ids, mask, k0, v0, k1, v1):
                cache = transformers.DynamicCache()
                for i, (k, v) in enumerate(((k0, v0), (k1, v1))):
                    cache.update(k, v, i)
                found = self.net(input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True)
                layers = found.past_key_values.layers
                return (found.logits, *(t for layer in layers for t in (layer.keys, layer.values)))
        return Net()

    def heads(self):
        config = configured(self.kind, SMALL)
        count = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        if self.kind == "falcon":
            count = 1 if config.multi_query else count
        return count, getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads

    def inputs(self, batch):
        n, before = batch or 2, 16 if batch else 19
        if self.shape is None:
            self.shape = self.heads()
        past = {f"{kind}{i}": draw(kind, i).normal(size=(n, self.shape[0], before, self.shape[1])).astype("float32")
                for i in range(2) for kind in "kv"}
        return {"ids": ids(n, 1), "mask": np.ones((n, before + 1), "int64"), **past}

    def free(self):
        return {"ids": {0: "n"}, "mask": {0: "n", 1: "all"}, **{f"{kind}{i}": {0: "n", 2: "p"} for i in range(2) for kind in "kv"}}


def files(add):
    for kind in TEXTS:
        add("transformers." + kind, "transformers, text", transformer(kind, ["input_ids", "attention_mask"]), text)
    for kind in PICTURES:
        add("transformers." + kind, "transformers, images", transformer(kind, ["pixel_values"]), onnx_models.photos(224))
    for kind in SOUNDS:
        add("transformers." + kind, "transformers, sounds", transformer(kind, ["input_values"]), numbers(8000))
    for kind, (cls, inputs, names, told) in HEADS.items():
        add("transformers." + kind, "transformers, tasks", headed(cls, names, told), inputs)
    for kind, cls in CACHED.items():
        one = Cached(kind, cls)
        add(f"transformers.{kind}-cached", "transformers, caches", one.build, one.inputs, both=False, outputs=5, free=one.free())
