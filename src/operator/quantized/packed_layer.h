/*
 * Convolutions and dense layers on 8-bit integers by packed kernels of our own, for processors
 * without instructions that add products of bytes exactly: weights are packed once for all plans,
 * rows of windows are widened to 16 bits a block at a time, and sums become results while they are
 * in the cache.
 */
#ifndef MXNET_OPERATOR_QUANTIZED_PACKED_LAYER_H_
#define MXNET_OPERATOR_QUANTIZED_PACKED_LAYER_H_

#include "operator/quantized/layer_call.h"
#include "operator/quantized/layers.h"
#include "operator/quantized/packed_kernels.h"

namespace mxnet {
namespace quantized {

/* The weights are input `weight_input`; -1: they are not kept. `zeros`: those of the filters; that
 * of src is the call's. `addend` (null: none) lies as the result does,
 * and may be the result; call.accumulate is not looked at. */
struct PackedCall {
  const LayerCall& layer;
  int weight_input;
  ByteZeros zeros;
  const void* addend;
};
/* Results of this dtype, whose 8-bit integers have a step and a zero point, of values in
 * [low, high]. The scales and what comes behind them are the caller's. */
void SetResult(const Affine& form, float low, float high, SumsFinish* f);

/*
 * Does PackedLayer compute it faster by Winograd tiles than a library does by instructions for
 * products of bytes? Zen 4, one thread, against oneDNN 3.2: 128 to 512 channels of 14x14 to 56x56
 * places take 0.54 to 0.77 of its time, 64 channels 0.68 to 0.84, 32 channels 0.87 to 0.93.
 */
bool TilesBeatByteProducts(const KernelArgs& args, const PackedCall& call);

/*
 * Does PackedLayer have windows of 3 x 3 of single channels whose columns are multiplied by
 * instructions for products of bytes? Zen 4, one thread: 0.3 to 0.9 of the time of oneDNN 3.2, half
 * of it in MobileNetV2. There each byte is multiplied by an instruction of its own.
 */
bool ColumnsBeatByteProducts(const PackedCall& call);

/*
 * The same of 1x1 windows, whose sums become bytes in registers. Zen 4, one thread, against oneDNN
 * 3.2: 0.8 to 0.95 of the time for up to 160 channels, or few pixels, and 0.97 to 1.0 otherwise.
 */
bool PixelsBeatByteProducts(const KernelArgs& args, const PackedCall& call);

/* Does PackedLayer multiply it by matrix tiles (amx_layer.h)? */
bool AmxBeatsByteProducts(const KernelArgs& args, const PackedCall& call);

/* False: not taken, and nothing is written. */
bool PackedLayer(KernelArgs& args, const PackedCall& call);

}  // namespace quantized
}  // namespace mxnet
#endif  // MXNET_OPERATOR_QUANTIZED_PACKED_LAYER_H_
