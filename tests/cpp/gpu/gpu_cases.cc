#include "gpu_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>

#include "base/half.h"
#include "gpu_emulator.h"
#include "mxnet/op.h"

namespace mxnet {

static constexpr char kGuard = 0x5a;

double ReadElement(const void* p, int dtype, int64_t i) {
  switch (dtype) {
    case kFloat32: return static_cast<const float*>(p)[i];
    case kFloat64: return static_cast<const double*>(p)[i];
    case kFloat16: return static_cast<float>(static_cast<const float16*>(p)[i]);
    case kBfloat16: return static_cast<float>(static_cast<const bfloat16*>(p)[i]);
    case kUint8:
    case kBool: return static_cast<const uint8_t*>(p)[i];
    case kInt8: return static_cast<const int8_t*>(p)[i];
    case kInt32: return static_cast<const int32_t*>(p)[i];
    default: return static_cast<double>(static_cast<const int64_t*>(p)[i]);
  }
}
void WriteElement(void* p, int dtype, int64_t i, double v) {
  switch (dtype) {
    case kFloat32: static_cast<float*>(p)[i] = static_cast<float>(v); break;
    case kFloat64: static_cast<double*>(p)[i] = v; break;
    case kFloat16: static_cast<float16*>(p)[i] = float16(v); break;
    case kBfloat16: static_cast<bfloat16*>(p)[i] = bfloat16(v); break;
    case kUint8: static_cast<uint8_t*>(p)[i] = static_cast<uint8_t>(std::fabs(v)); break;
    case kBool: static_cast<uint8_t*>(p)[i] = v != 0; break;
    case kInt8: static_cast<int8_t*>(p)[i] = static_cast<int8_t>(v); break;
    case kInt32: static_cast<int32_t*>(p)[i] = static_cast<int32_t>(v); break;
    default: static_cast<int64_t*>(p)[i] = static_cast<int64_t>(v);
  }
}
static double Tolerance(int dtype) {
  return dtype == kFloat32 ? 2e-5 : dtype == kFloat64 ? 1e-9 : dtype == kFloat16 ? 2e-3 : dtype == kBfloat16 ? 1.6e-2 : 0;
}

std::string Name(const Case& c) {
  std::ostringstream s;
  s << c.op;
  for (const Shape& shape : c.shapes) s << shape;
  for (int d : c.dtypes) s << " " << DTypeName(d);
  for (const auto& kv : c.attrs) s << " " << kv.first << "=" << kv.second;
  s << (c.req == OpReq::kAdd ? " add" : "");
  if (c.last_in || c.last_out) s << " channels last in " << c.last_in << ", out " << c.last_out;
  return s.str();
}

Result RunKernel(const Case& c, DeviceType device, unsigned seed) {
  const Op* op = Op::Get(c.op);
  const AttrsPtr attrs = MakeAttrs(op, c.attrs);
  const int num_in = static_cast<int>(c.shapes.size()), num_out = op->NumOutputs(*attrs);
  ShapeVector in_shapes(c.shapes.begin(), c.shapes.end()), out_shapes(num_out);
  std::vector<int> in_types, out_types(num_out, kDTypeUnknown);
  for (int i = 0; i < num_in; ++i) in_types.push_back(c.dtypes[c.dtypes.size() == 1 ? 0 : i]);
  EXPECT_TRUE(InferCall(*attrs, {}, &in_shapes, &out_shapes)) << Name(c);
  EXPECT_TRUE(InferCall(*attrs, {}, &in_types, &out_types)) << Name(c);
  RunContext run;
  run.ctx = {device, 0};
  std::mt19937 random(seed);
  std::vector<std::vector<char>> memory;
  std::vector<std::pair<const char*, const char*>> ends;  // behind each array: must stay as it is
  std::vector<TBlob> in, out;
  auto tensor = [&](const Shape& shape, int dtype, bool fill) {
    TBlob b;
    b.shape = shape;
    b.dtype = dtype;
    b.ctx = run.ctx;
    const size_t size = DTypeSize(dtype), shift = c.misaligned || c.shifted.count(static_cast<int>(in.size() + out.size())) ? size : 0;
    memory.emplace_back(b.Bytes() + 320 + shift, kGuard);
    uintptr_t at = reinterpret_cast<uintptr_t>(memory.back().data());
    at = (at + 255) / 256 * 256 + shift;  // as the pools of GPUs: libraries choose by alignment
    b.dptr = reinterpret_cast<void*>(at);
    ends.push_back({b.data<char>() + b.Bytes(), memory.back().data() + memory.back().size()});
    for (int64_t i = 0; fill && i < b.Size(); ++i) {
      double v = std::uniform_real_distribution<double>(c.low, c.high)(random);
      if (!IsFloating(dtype)) v = std::floor(v);
      WriteElement(b.dptr, dtype, i, v);
    }
    return b;
  };
  memory.reserve(num_in + num_out + 64);
  for (int i = 0; i < num_in; ++i) in.push_back(tensor(in_shapes[i], in_types[i], true));
  for (const auto& given : c.given) {
    EXPECT_EQ(given.second.size(), in[given.first].Bytes()) << Name(c);
    if (!given.second.empty())
      std::memcpy(in[given.first].dptr, given.second.data(), std::min(given.second.size(), in[given.first].Bytes()));
  }
  for (int i = 0; i < num_out; ++i) out.push_back(tensor(out_shapes[i], out_types[i], true));
  for (int i = 0; i < std::min(num_in, 32); ++i)
    if (c.last_in >> i & 1u) in[i].layout = Layout::kChannelsLast;
  for (int i = 0; i < std::min(num_out, 32); ++i)
    if (c.last_out >> i & 1u) out[i].layout = Layout::kChannelsLast;
  const std::vector<OpReq> req(num_out, c.req);
  KernelArgs a;
  RandomState state;
  state.Seed(seed);
  a.attrs = attrs.get();
  a.in = Span<const TBlob>(in);
  a.out = Span<const TBlob>(out);
  a.req = Span<const OpReq>(req);
  a.run = run;
  a.is_train = true;
  a.random = op->uses_random ? &state : nullptr;
  std::shared_ptr<OpState> slot;
  a.state = &slot;
  a.workspace = [&](size_t bytes) {
    memory.emplace_back(bytes + 128, kGuard);  // nobody may count on zeros
    char* at = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory.back().data()) + 63) / 64 * 64);
    ends.push_back({at + bytes, memory.back().data() + memory.back().size()});
    return reinterpret_cast<void*>(at);
  };
  const Kernel* kernel = op->KernelFor(device);
  EXPECT_NE(kernel, nullptr) << Name(c);
  if (kernel) (*kernel)(a);
  for (const auto& end : ends)
    for (const char* p = end.first; p < end.second; ++p) EXPECT_EQ(*p, kGuard) << Name(c) << " wrote behind an array";
  Result r;
  for (const TBlob& b : out) {
    r.bytes.emplace_back(static_cast<char*>(b.dptr), static_cast<char*>(b.dptr) + b.Bytes());
    r.shapes.push_back(b.shape);
    r.dtypes.push_back(b.dtype);
  }
  for (const TBlob& b : in) r.inputs.emplace_back(static_cast<char*>(b.dptr), static_cast<char*>(b.dptr) + b.Bytes());
  return r;
}

void ExpectNear(const Case& c, const std::vector<char>& got, const std::vector<char>& want, int dtype, double scale) {
  const int64_t n = static_cast<int64_t>(want.size() / DTypeSize(dtype));
  int shown = 0;
  for (int64_t i = 0; i < n && shown < 3; ++i) {
    const double x = ReadElement(got.data(), dtype, i), y = ReadElement(want.data(), dtype, i);
    if ((x != x && y != y) || x == y) continue;
    const double tolerance = scale * Tolerance(dtype);
    if (!(std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y)))) {
      ADD_FAILURE() << Name(c) << " element " << i << ": GPU kernel " << x << ", CPU kernel " << y;
      ++shown;
    }
  }
}

void DeviceKernels::SetUp() {
  if (!EmulatorAvailable()) GTEST_SKIP() << "no C++ compiler for the emulator";
}
void DeviceKernels::TearDown() { RunNow(); }
void DeviceKernels::RunNow() {
  const std::vector<Work> work = std::move(work_);
  work_.clear();
  try {
    {
      EmulatedDevice device(EmulatedDevice::kCollect);
      for (const auto& w : work) {
        try {
          w.gpu();
        } catch (const Error&) {  // what is read back is zeros here, and may be refused; what is behind that is compiled when it runs
        }
      }
    }
    for (const auto& w : work) {
      const int before = EmulatedDevice::launches();
      EmulatedDevice device(EmulatedDevice::kRun);
      w.gpu();
      EXPECT_GE(EmulatedDevice::launches() - before, w.launches) << w.name;
      w.compare();
    }
  } catch (const std::exception& e) {
    FAIL() << e.what();
  }
}
void DeviceKernels::Later(const std::string& name, int launches, std::function<void()> gpu, std::function<void()> compare) {
  work_.push_back({name, launches, std::move(gpu), std::move(compare)});
}
void DeviceKernels::Check(const Case& c, double scale) {
  auto want = std::make_shared<Result>(RunKernel(c, DeviceType::kCPU)), got = std::make_shared<Result>();
  Later(
      Name(c), 1, [c, got] { *got = RunKernel(c, DeviceType::kGPU); },
      [c, want, got, scale] {
        for (size_t i = 0; i < want->bytes.size(); ++i) ExpectNear(c, got->bytes.at(i), want->bytes[i], want->dtypes[i], scale);
        for (size_t i = 0; i < want->inputs.size(); ++i)
          ExpectNear(c, got->inputs.at(i), want->inputs[i], c.dtypes[c.dtypes.size() == 1 ? 0 : i], scale);
      });
}

}  // namespace mxnet
