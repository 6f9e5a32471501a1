"""More of the transformers package's nets in the corpus: newer decoders, with words and caches that
grow, encoders of pictures, sounds and series, and the decoder halves of pairs with their caches."""
import onnx_corpus_transformers as older
import onnx_models
from onnx_models import draw

DECODERS = """afmoe apertus arcee bamba beam bert-generation biogpt bitnet cohere2 cwm deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4
doge dory ernie4_5 ernie4_5_moe exaone4 exaone_moe falcon_mamba flex_olmo flint glm4 glm4_moe glm4_moe_lite glm_moe_dsa
gpt_neox_japanese granite_swa granitemoe_swa granitemoehybrid granitemoeshared hrm_text hunyuan_v1_dense hunyuan_v1_moe hy_v3 hy_v4
hyperclovax inkling2_loop_text inkling2_text inkling_text internlm3 iquestcoder jais2 jetmoe kimi_linear kolibri1 laguna lfm3
megatron-bert mellum mimo_v2_flash minicpm3 minimax minimax_m2 minimax_m3_vl_text ministral ministral3 modernbert-decoder moshi
nanochat nemotron_h olmo3 openai-gpt recurrent_gemma roberta-prelayernorm roc_bert sarvam_mla sarvam_moe seed_oss solar_open vaultgemma
youtu""".split()
TEXTS = """clip_text_model dpr embedding_gemma2_text eurobert gte jina_embeddings_v3 nomic_bert sam3_lite_text_text_model
tipsv2_text_model""".split()
# Sizes of the pictures that the nets take.
PICTURES = {"aimv2_vision_model": 224, "chinese_clip_vision_model": 224, "data2vec-vision": 224, "deimv2": 320, "edgetam_vision_model": 512,
            "internvl_vision": 448, "maskformer-swin": 224, "pixio": 256, "pp_doclayout_v3": 320, "pp_ocrv5_mobile_rec": 128,
            "pp_ocrv5_server_rec": 128, "pp_ocrv6_small_det": 256, "pp_ocrv6_small_rec": 128, "pp_ocrv6_tiny_rec": 128,
            "qianfan_ocr_vision": 448, "radio": 224, "sam2_hiera_det_model": 256, "sam3_vit_model": 224, "sam_hq_vision_model": 1024,
            "sapiens2": 224, "textnet": 224, "timm_wrapper": 224, "tipsv2_vision_model": 224, "uvdoc": 224, "vitdet": 224, "pixtral": 224,
            "depth_pro": 1536, "mlcd": 336}
WAVES = ("omniasr_ctc", "wavtokenizer_encoder", "mimi_encoder", "muse_spark_audio")
# Spectra: bands, negative where they come last, and frames.
SPECTRA = {"parakeet_ctc": (-80, 200), "granite_speech5_ctc": (-160, 120), "lasr_ctc": (-128, 200), "fun_asr_nano_encoder": (-560, 40),
           "audioflamingo3_encoder": (128, 3000), "qwen2_audio_encoder": (128, 3000), "glmasr_encoder": (128, 400),
           "voxtral_encoder": (128, 3000)}

FEW = {"num_experts_per_tok": 2, "n_routed_experts": 4, "first_k_dense_replace": 1, "n_group": 1, "topk_group": 1, "num_dense_layers": 1,
       "top_k": 2, "moe_k": 2, "moe_topk": 2, "kv_lora_rank": 16, "q_lora_rank": 24, "qk_nope_head_dim": 16, "qk_rope_head_dim": 16,
       "v_head_dim": 16, "mamba_d_head": 16, "mamba_n_heads": 8, "mamba_d_state": 16}
CACHED = {"arcee": "ArceeForCausalLM", "biogpt": "BioGptForCausalLM",
          "olmo3": "Olmo3ForCausalLM", "seed_oss": "SeedOssForCausalLM", "nanochat": "NanoChatForCausalLM",
          "hunyuan_v1_dense": "HunYuanDenseV1ForCausalLM", "exaone4": "Exaone4ForCausalLM", "vaultgemma": "VaultGemmaForCausalLM"}
# Decoders of pairs: they read the encoder's states, and caches of both attentions.
PAIRS = {"bart": "BartForConditionalGeneration", "t5": "T5ForConditionalGeneration", "marian": "MarianMTModel",
         "whisper": "WhisperForConditionalGeneration", "m2m_100": "M2M100ForConditionalGeneration"}
# Their keys and values come from a latent array, one for each head.
LATENT = "deepseek_v2 deepseek_v3 deepseek_v32 glm4_moe_lite glm_moe_dsa minicpm3 sarvam_mla youtu".split()


def sized(config, values):
    """With the numbers that it lets be set; some refuse, and of some they vary with the layer."""
    for part in [config] + [v for v in vars(config).values() if hasattr(v, "to_dict")]:
        try:
            older.fit(part, values)
        except Exception:   # of the package's own kinds: it stays as it is
            pass
    return config


def decoder(kind):
    def build():
        import transformers
        config = older.configured(kind, older.SMALL | FEW | ({"num_key_value_heads": 4} if kind in LATENT else {}))
        config._experts_implementation = "batched_mm"   # the usual one counts with histc, which exporters do not know
        try:
            net = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
        except ValueError:   # some have but their own attention
            net = transformers.AutoModelForCausalLM.from_config(config)
        return older.wrapped(net.float(), ["input_ids", "attention_mask"], 1)
    return build


def encoder(kind, inputs):
    def build():
        import transformers
        config = sized(transformers.CONFIG_MAPPING[kind](), older.SHALLOW)
        config._experts_implementation = "batched_mm"
        try:
            net = transformers.AutoModel.from_config(config, attn_implementation="eager")
        except ValueError:
            net = transformers.AutoModel.from_config(config)
        return older.wrapped(net.float(), inputs, 1)
    return build


def words(batch):
    """Texts whose length is free."""
    n, t = (batch, 24) if batch else (3, 17)
    return {"ids": older.ids(n, t), "mask": onnx_models.masks(n, t)}


class PairCached:
    """The decoder's half of a pair, a word behind some whose keys and values are given, as are
    those of the encoder's states."""
    NAMES = ("self_k", "self_v", "cross_k", "cross_v")

    def __init__(self, cls):
        self.cls = cls
        self.config = None

    def made(self):
        import transformers
        kind = getattr(transformers, self.cls)
        if self.config is None:
            self.config = sized(kind.config_class(), older.SHALLOW | {"use_cache": True})
            self.config._attn_implementation = "eager"
        return kind

    def build(self):
        import torch
        import transformers
        net = self.made()(self.config).float()

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = net

            def forward(self, ids, states, *past):
                cache = transformers.EncoderDecoderCache(transformers.DynamicCache(), transformers.DynamicCache())
                for i in range(2):
                    own, other = past[4 * i:4 * i + 2], past[4 * i + 2:4 * i + 4]
                    cache.self_attention_cache.update(*own, i)
                    cache.cross_attention_cache.update(*other, i)
                    cache.is_updated[i] = True
                found = net(decoder_input_ids=ids, encoder_outputs=(states,), past_key_values=cache, use_cache=True)
                layers = found.past_key_values.self_attention_cache.layers
                return (found.logits, *(t for layer in layers for t in (layer.keys, layer.values)))
        return Net()

    def inputs(self, batch):
        self.made()
        n, before, frames = batch or 2, 16 if batch else 19, 32 if batch else 27
        c = self.config
        heads = getattr(c, "decoder_attention_heads", None) or c.num_heads
        size = getattr(c, "d_kv", None) or c.d_model // heads
        past = {f"{name}{i}": draw(name, i).normal(size=(n, heads, before if "self" in name else frames, size)).astype("float32")
                for i in range(2) for name in self.NAMES}
        return {"ids": older.ids(n, 1), "states": draw("states").normal(size=(n, frames, c.d_model)).astype("float32"), **past}

    def free(self):
        past = {f"{name}{i}": {0: "n", 2: "p" if "self" in name else "s"} for i in range(2) for name in self.NAMES}
        return {"ids": {0: "n"}, "states": {0: "n", 1: "s"}, **past}


def files(add):
    axes = {0: "n", 1: "t"}
    for kind in DECODERS:
        add("newer." + kind, "transformers, newer decoders", decoder(kind), words, free={"ids": axes, "mask": axes})
    for kind in TEXTS:
        add("newer." + kind, "transformers, newer encoders", encoder(kind, ["input_ids", "attention_mask"]), words,
            free={"ids": axes, "mask": axes})
    for kind, size in PICTURES.items():
        add("newer." + kind, "transformers, newer encoders", encoder(kind, ["pixel_values"]), onnx_models.photos(size))
    for kind in WAVES:
        wave = older.numbers(1, 7680) if kind != "omniasr_ctc" else older.numbers(8000)
        add("newer." + kind, "transformers, newer encoders", encoder(kind, ["input_values"]), wave)
    for kind, (bands, frames) in SPECTRA.items():
        add("newer." + kind, "transformers, newer encoders", encoder(kind, ["input_features"]), older.spectra(bands, frames, False))
    for kind, cls in PAIRS.items():
        pair = PairCached(cls)
        add(f"newer.{kind}-pair-cached", "transformers, caches", pair.build, pair.inputs, both=False, outputs=5, free=pair.free())
    for kind, cls in CACHED.items():
        one = older.Cached(kind, cls)
        add(f"newer.{kind}-cached", "transformers, caches", one.build, one.inputs, both=False, outputs=5, free=one.free())
