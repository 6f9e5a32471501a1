/* Inverse circular functions of floats, for functions.h. */
// No include guard on purpose: see functions.h.

// In float, below 2 ulp; pi/2 comes in two parts.
constexpr float kQuarterTurn = 0x1.921fb6p+0f, kQuarterTurnLo = -0x1.777a5cp-25f;
MXNET_FN float arctan(float x) {
  const float a = std::fabs(x);
  const bool far = a > 1.0f;
  const float t = far ? 1.0f / a : a;
  const float z = t * t;
  float p = 0.001488691934f;
  p = p * z - 0.009144629734f;
  p = p * z + 0.02630500106f;
  p = p * z - 0.04896051397f;
  p = p * z + 0.07031914246f;
  p = p * z - 0.08931826776f;
  p = p * z + 0.1108826163f;
  p = p * z - 0.1428400379f;
  p = p * z + 0.1999994932f;
  p = p * z - 0.3333333308f;
  const float angle = t + t * z * p;
  const float r = far ? (kQuarterTurn - angle) + kQuarterTurnLo : angle;
  return std::copysign(r, x);
}
MXNET_FN float SmallArcsin(float s, float z) {  // where z is s * s, at most 1/4
  float p = 0.03369084729f;
  p = p * z + 0.0171492383f;
  p = p * z + 0.03110066275f;
  p = p * z + 0.04459940153f;
  p = p * z + 0.07500094544f;
  p = p * z + 0.1666666634f;
  return s + s * z * p;
}
MXNET_FN float arcsin(float x) {
  const float a = std::fabs(x);
  const bool far = a > 0.5f;
  const float z = far ? 0.5f * (1.0f - a) : a * a;
  const float s = far ? std::sqrt(z) : a;
  const float angle = SmallArcsin(s, z);
  const float r = far ? (kQuarterTurn - 2.0f * angle) + kQuarterTurnLo : angle;
  return std::copysign(r, x);
}
MXNET_FN float arccos(float x) {
  const float a = std::fabs(x);
  const bool far = a > 0.5f;
  const float z = far ? 0.5f * (1.0f - a) : a * a;
  const float s = far ? std::sqrt(z) : x;
  const float angle = SmallArcsin(s, z);
  const float ends = x < 0.0f ? (2.0f * kQuarterTurn - 2.0f * angle) + 2.0f * kQuarterTurnLo : 2.0f * angle;
  return far ? ends : (kQuarterTurn - angle) + kQuarterTurnLo;
}
