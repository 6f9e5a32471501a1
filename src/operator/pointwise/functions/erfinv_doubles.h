/*
 * The inverse of the error function for doubles: erfinv(x) / x is a polynomial of w = -log(1 - x^2)
 * where w is less than 6, and beyond that one of the root of w. Errors are below 3 ulp. Polynomials
 * of floats leave the end of their work to doubles (ErfinvCentre of functions.h); these have none
 * to leave it to, so they are fits of the same pieces with more terms. No branch and no call.
 */
// No include guard on purpose: part of functions.h.
constexpr double kErfinvCentreTerms[] = {
    -2.990450243272688e-22, 4.22831964711441e-21,    5.9949571622188915e-21, -3.860192377004801e-19,  1.6568902070326583e-18,
    1.2748590953505583e-17, -1.5731123503391285e-16, 2.7567170138166916e-16, 6.293734713664434e-15,   -5.294269265981523e-14,
    6.449389855187572e-15,  2.6990332675037463e-12,  -1.732952481239926e-11, -3.1425785137828936e-11, 1.110799899853498e-09,
    -5.46717846812532e-09,  -2.368873021118504e-08,  4.499854247615572e-07,  -1.7480020929896479e-06, -1.2716422638199853e-05,
    0.00019506132441192065, -0.0008361817769094964,  -0.005738135221005623,  0.2416304041661583,      1.6235420064648298};
constexpr double kErfinvTailTerms[] = {
    -1.66665274021559e-15,  -2.2955498882421955e-15, 7.110187748403395e-14,   -1.114250908823261e-13, -6.130133216524446e-13,
    2.2488845842746683e-12, -2.9936722116404113e-12, 1.6644246717776648e-12,  2.6860559347542947e-11, -1.8972792760918595e-10,
    5.339352200209134e-10,  -3.445276599286497e-10,  -3.0227429867666644e-09, 1.4223088063971417e-08, -3.335317250665796e-08,
    3.252750452567151e-08,  8.737269976678895e-08,   -5.321996391655206e-07,  1.5802204821806646e-06, -3.450975353300798e-06,
    6.275528013044719e-06,  -1.0952485020027335e-05, 2.3136244405770023e-05,  -6.653393638715389e-05, 0.00021729138602858325,
    -0.0006213140453055518, 0.0007415582882026608,   1.0099555552328432,      4.076442689430348};

template <int n>
MXNET_FN double ErfinvSeries(const double (&terms)[n], double c) {
  double p = terms[0];
#pragma GCC unroll 32
  for (int k = 1; k < n; ++k) p = p * c + terms[k];
  return p;
}
MXNET_FN double ErfinvAt(double x, double ratio) {
  const double r = x * ratio, a = std::fabs(x);
  return a < 1.0 ? r : a == 1.0 ? x * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
}
MXNET_FN double ErfinvCentre(double w) { return ErfinvSeries(kErfinvCentreTerms, (w < 6.0 ? w : 6.0) - 3.0); }
MXNET_FN double ErfinvPlace(double x) { return -log((1.0 - x) * (1.0 + x)); }
MXNET_FN double ErfinvFrom(double x, double w) {
  const double tail = ErfinvSeries(kErfinvTailTerms, std::sqrt(w < 6.0 ? 6.0 : w < 40.0 ? w : 40.0) - 4.234375);
  return ErfinvAt(x, w < 6.0 ? ErfinvCentre(w) : tail);
}
MXNET_FN double erfinv(double x) { return ErfinvFrom(x, ErfinvPlace(x)); }
