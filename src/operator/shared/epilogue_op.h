/* What a fused operator does to its result before it is written: one function, element by
 * element. */
#ifndef MXNET_OPERATOR_SHARED_EPILOGUE_OP_H_
#define MXNET_OPERATOR_SHARED_EPILOGUE_OP_H_

namespace mxnet {

struct Attrs;

namespace nn {

enum class EpilogueKind : int { kNone, kRelu, kSigmoid, kTanh, kSoftRelu, kGelu, kLeaky, kElu, kClip, kHardSigmoid, kSilu, kHardSwish };

/* a, b: slope of kLeaky and kElu; bounds of kClip; slope and offset of kHardSigmoid, and of that of
 * x in kHardSwish; a of kSilu, x sigmoid(a x). */
struct EpilogueOp {
  EpilogueKind kind = EpilogueKind::kNone;
  float a = 0, b = 0;
  explicit operator bool() const { return kind != EpilogueKind::kNone; }
};

/* Of a record: the function that it computes of input 0, in every mode, where no role says so;
 * kNone: not with these parameters. */
struct AsEpilogue {
  EpilogueOp (*of)(const Attrs&);
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_EPILOGUE_OP_H_
