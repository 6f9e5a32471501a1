/*
 * The gamma function and its relatives for float arguments: in double, without branches, rounded
 * once. Part of functions.h, which includes it behind the series that it
 * calls; as there, the fits are made for this file.
 */
// No include guard on purpose: see functions.h.

// The gamma function and its relatives by recurrence to an interval, and reflection for negative
// arguments.
MXNET_FN double SinPi(double x) {  // of the distance to the nearest integer, which decides the sign
  const double n = std::rint(x), s = SeriesSinCos((x - n) * 3.1415926535897932).sin;
  return std::rint(0.5 * n) == 0.5 * n ? s : -s;
}
MXNET_FN double PositiveGammaln(double z) {  // z >= 0; relative error 1e-12, also near the zeros at 1 and 2
  double y = z, up = 1.0, down = 1.0;
  for (int k = 0; k < 6; ++k) {  // from 2.5 to 8 down to [1.5, 2.5)
    const bool above = y >= 2.5;
    y = above ? y - 1.0 : y;
    down = above ? down * y : down;
  }
  for (int k = 0; k < 2; ++k) {
    const bool below = y < 1.5;
    up = below ? up * y : up;
    y = below ? y + 1.0 : y;
  }
  const double t = y - 2.0;
  double p = -1.1296499102214296e-05;
  p = p * t + 2.4487052975853987e-05;
  p = p * t - 4.4324684533065815e-05;
  p = p * t + 9.816870450896373e-05;
  p = p * t - 0.00022324653987287443;
  p = p * t + 0.0005098661348137004;
  p = p * t - 0.0011927471573807307;
  p = p * t + 0.0028904958630843014;
  p = p * t - 0.007385551240791602;
  p = p * t + 0.020580808882117916;
  p = p * t - 0.06735230105130044;
  p = p * t + 0.32246703342004873;
  p = p * t + 0.42278433509846713;
  const bool large = z >= 8.0;  // Stirling's series
  const double l = SeriesLog(large ? z : down / up), w = 1.0 / (z * z);
  const double series = (1.0 / 12 - w * (1.0 / 360 - w * (1.0 / 1260 - w * (1.0 / 1680)))) / z;
  return large ? (z - 0.5) * (l - 1.0) + 0.41893853320467274 + series : l + t * p;
}
MXNET_FN double SeriesGammaln(double x) {
  const bool negative = x < 0.0;
  const double r = PositiveGammaln(negative ? 1.0 - x : std::fabs(x));
  const double reflected = SeriesLog(3.1415926535897932 / std::fabs(SinPi(x))) - r;
  return std::fabs(x) == std::numeric_limits<double>::infinity() ? std::fabs(x) : negative ? reflected : r;
}
MXNET_FN double SeriesGamma(double x) {
  const bool negative = x < 0.0;
  const double r = SeriesExp(PositiveGammaln(negative ? 1.0 - x : std::fabs(x)));
  const double s = SinPi(x), reflected = s == 0.0 ? std::numeric_limits<double>::quiet_NaN() : 3.1415926535897932 / (s * r);
  return x == 0.0 ? 1.0 / x : negative ? reflected : r;
}
// psi to 1e-13 behind six steps of the recurrence as one fraction (Abramowitz & Stegun 6.3.5,
// 6.3.18; reflection 6.3.7)
MXNET_FN double SeriesDigamma(double x) {
  const bool negative = x < 0.0;
  double z = negative ? 1.0 - x : x, above = 0.0, below = 1.0;
  for (int k = 0; k < 6; ++k) {
    const bool step = z < 6.0;
    above = step ? above * z + below : above;
    below = step ? below * z : below;
    z = step ? z + 1.0 : z;
  }
  const double w = 1.0 / (z * z);
  const double tail =
      w * (1.0 / 12 - w * (1.0 / 120 - w * (1.0 / 252 - w * (1.0 / 240 - w * (1.0 / 132 - w * (691.0 / 32760 - w * (1.0 / 12)))))));
  const double r = SeriesLog(z) - 0.5 / z - tail - above / below;
  const SinCos v = SeriesSinCos((x - std::rint(x)) * 3.1415926535897932);
  const double reflected = r - 3.1415926535897932 * v.cos / v.sin;
  const bool pole = x <= 0.0 && std::rint(x) == x;
  return pole ? std::numeric_limits<double>::quiet_NaN() : negative ? reflected : r;
}
// its derivative (6.4.6, 6.4.12; reflection 6.4.7)
MXNET_FN double SeriesTrigamma(double x) {
  const bool negative = x < 0.0;
  double z = negative ? 1.0 - x : x, above = 0.0, below = 1.0;
  for (int k = 0; k < 6; ++k) {
    const bool step = z < 6.0;
    const double square = z * z;
    above = step ? above * square + below : above;
    below = step ? below * square : below;
    z = step ? z + 1.0 : z;
  }
  const double w = 1.0 / (z * z);
  const double tail =
      w * (1.0 / 6 - w * (1.0 / 30 - w * (1.0 / 42 - w * (1.0 / 30 - w * (5.0 / 66 - w * (691.0 / 2730 - w * (7.0 / 6)))))));
  const double r = (1.0 + tail) / z + 0.5 * w + above / below;
  const double s = SinPi(x), reflected = 9.8696044010893586 / (s * s) - r;
  return negative ? reflected : r;
}
