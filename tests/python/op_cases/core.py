"""Operators that calls and executors are made of, which have their own tests."""
CASES = []
COVERED_ELSEWHERE = {"_copyto": "test_ndarray.py", "_to_context": "test_several_gpus_training.py",
                     "_CustomFunction": "test_autograd.py", "_CachedOp": "../cpp/executor/cached_op_test.cc",
                     "_to_layout": "../cpp/executor/executor_test.cc",
                     "_fold_scale_shift": "../cpp/executor/executor_test.cc",
                     "_join_parameters": "test_passes.py",
                     "_fused_convolution": "../cpp/executor/executor_test.cc", "_fused_expand_depthwise": "test_passes.py",
                     "_shuffle_channels": "test_shuffle_passes.py",
                     "_fused_dense": "test_passes.py",
                     "_fused_quantized_convolution": "test_fused_layers.py", "_fused_quantized_dense": "test_fused_layers.py",
                     "_block_dense": "test_block_weights.py", "_fused_block_dense": "test_block_weights.py",
                     "_expert_block_dense": "test_experts.py",
                     "_integer_lstm": "test_integer_lstm.py",
                     **{"_integer_" + name: "test_import_integers.py"
                        for name in ("convolution", "dense", "matmul", "quantize", "dequantize",
                                     "quantize_dynamic", "pair", "table", "mean")},
                     "_to_small_float": "test_import_small_types.py", "_from_small_float": "test_import_small_types.py",
                     "_fused_pointwise": "test_pointwise_passes.py",
                     "_fused_attention": "test_attention_passes.py",
                     "_cached_attention": "test_caches_in_place.py", "_cache_append": "test_caches_in_place.py",
                     "_draw_counters": "test_attention_dropout.py"}
