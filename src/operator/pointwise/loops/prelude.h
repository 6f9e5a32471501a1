// First lines of every *_variants.cc of this folder.
#include <cmath>
#include <cstdint>
#include <limits>

#include "operator/pointwise/functions/vector_libm.h"
#include "operator/pointwise/loops/loops.h"
