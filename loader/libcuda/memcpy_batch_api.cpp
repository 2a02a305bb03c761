// Copies in batches: many at one call, as one piece of the stream's work.
#include <algorithm>
#include <limits>

#include "loader/libcuda/api.h"
#include "loader/libcuda/array.h"
#include "loader/libcuda/context.h"
#include "loader/libcuda/copy.h"
#include "loader/libcuda/stream_capture.h"

using namespace ptxrun::driver;

namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

/// A copy of a batch, and what it says of its source.
struct BatchCopy {
  CUDA_MEMCPY3D box{};
  CUmemcpySrcAccessOrder order = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  unsigned flags = 0;
};

/// Copies one after the other; what they read during the call is here.
class BatchOperation final : public Operation {
 public:
  CUresult run(Context &context) override {
    for (const auto &copy : copies)
      PTXRUN_TRY(copy->run(context));
    return CUDA_SUCCESS;
  }
  bool isLarge() const override {
    return std::ranges::any_of(copies, [](const auto &copy) { return copy->isLarge(); });
  }
  std::vector<std::shared_ptr<Operation>> copies;
  std::vector<std::vector<char>> sources;
};

bool isValid(const BatchCopy &copy) {
  return copy.order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
         copy.order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
         copy.flags <= CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
}

/// Reads the source now, and describes the copy as one from what was read.
CUresult readSource(Context &context, CUDA_MEMCPY3D &box, std::vector<char> &source) {
  source.resize(box.WidthInBytes * box.Height * box.Depth);
  CUDA_MEMCPY3D reading = box;
  reading.dstMemoryType = CU_MEMORYTYPE_HOST;
  reading.dstHost = source.data();
  reading.dstXInBytes = reading.dstY = reading.dstZ = 0;
  reading.dstPitch = box.WidthInBytes;
  reading.dstHeight = box.Height;
  std::shared_ptr<Operation> operation;
  bool isPageable = false;
  PTXRUN_TRY(makeCopy(reading, operation, isPageable));
  if (operation)
    PTXRUN_TRY(operation->run(context));
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = source.data();
  box.srcXInBytes = box.srcY = box.srcZ = 0;
  box.srcPitch = box.WidthInBytes;
  box.srcHeight = box.Height;
  return CUDA_SUCCESS;
}

/// Adds a copy to the batch. Nothing to copy is an error here.
CUresult add(Context &context, BatchCopy copy, BatchOperation &batch) {
  if (!isValid(copy) || copy.box.WidthInBytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (copy.order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
    PTXRUN_TRY(readSource(context, copy.box, batch.sources.emplace_back()));
  std::shared_ptr<Operation> operation;
  bool isPageable = false;
  PTXRUN_TRY(makeCopy(copy.box, operation, isPageable));
  if (operation)
    batch.copies.push_back(std::move(operation));
  return CUDA_SUCCESS;
}

/// `describe(i, copy)` says what copy number i is; `failed`, where asked for, becomes the number of
/// the one that is wrong.
template <class Describe>
CUresult copyBatch(size_t count, size_t *failed, CUstream handle, Describe describe) {
  Context *context = nullptr;
  std::shared_ptr<Stream> stream;
  if (failed)
    *failed = kNone;
  PTXRUN_TRY(enter(handle, context, stream));
  PTXRUN_TRY(forbidCapture(*stream));
  if (count == 0 || stream->role() == Stream::Role::legacy)
    return CUDA_ERROR_INVALID_VALUE;
  auto batch = std::make_shared<BatchOperation>();
  for (size_t i = 0; i < count; ++i) {
    BatchCopy copy;
    CUresult result = describe(i, copy);
    if (result == CUDA_SUCCESS)
      result = add(*context, copy, *batch);
    if (result == CUDA_SUCCESS)
      continue;
    if (failed)
      *failed = i;
    return result;
  }
  return perform(*context, *stream, std::move(batch), Completion::async);
}

/// Of {firsts[0] = 0, firsts[1], ...}: rising, and below count.
bool isPartition(const size_t *firsts, size_t parts, size_t count) {
  if (!firsts || parts == 0 || parts > count || firsts[0] != 0)
    return false;
  for (size_t i = 1; i < parts; ++i)
    if (firsts[i] <= firsts[i - 1] || firsts[i] >= count)
      return false;
  return true;
}

CUresult copyRanges(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *bytes,
                    size_t count, const CUmemcpyAttributes *attributes, const size_t *firsts,
                    size_t attributeCount, size_t *failed, CUstream stream) {
  if (failed)
    *failed = kNone;
  if (!to || !from || !bytes || !attributes || !isPartition(firsts, attributeCount, count))
    return CUDA_ERROR_INVALID_VALUE;
  size_t part = 0;
  return copyBatch(count, failed, stream, [&](size_t i, BatchCopy &copy) {
    if (part + 1 < attributeCount && firsts[part + 1] == i)
      ++part;
    copy.order = attributes[part].srcAccessOrder;
    copy.flags = attributes[part].flags;
    copy.box.srcMemoryType = copy.box.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.box.srcDevice = from[i];
    copy.box.dstDevice = to[i];
    copy.box.WidthInBytes = bytes[i];
    copy.box.Height = copy.box.Depth = 1;
    return CUDA_SUCCESS;
  });
}

/// Bytes of an element of the operand's array; 1 for memory, 0 for what is neither.
size_t elementBytes(const CUmemcpy3DOperand &operand) {
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_POINTER)
    return 1;
  if (operand.type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
    return 0;
  const auto array = resolve<Array>(operand.op.array.array);
  return array ? array->image.texelBytes() : 0;
}

/// The sizes of a copy's elements agree, and rows and layers hold what is copied.
bool isWellFormed(const CUDA_MEMCPY3D_BATCH_OP &op, size_t from, size_t to) {
  const CUextent3D &e = op.extent;
  const auto holds = [&](const CUmemcpy3DOperand &o) {
    return o.type == CU_MEMCPY_OPERAND_TYPE_ARRAY ||
           ((o.op.ptr.rowLength == 0 || o.op.ptr.rowLength >= e.width) &&
            (o.op.ptr.layerHeight == 0 || o.op.ptr.layerHeight >= e.height));
  };
  const bool areBothArrays =
      op.src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY && op.dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
  return from != 0 && to != 0 && (!areBothArrays || from == to) && e.width != 0 && e.height != 0 &&
         e.depth != 0 && holds(op.src) && holds(op.dst);
}

/// An operand as copies in three dimensions describe one side.
struct Side {
  CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  size_t x = 0, y = 0, z = 0, pitch = 0, height = 0;
};

Side toSide(const CUmemcpy3DOperand &operand, const CUextent3D &extent, size_t element) {
  Side side;
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    const CUoffset3D &at = operand.op.array.offset;
    side.type = CU_MEMORYTYPE_ARRAY;
    side.array = operand.op.array.array;
    side.x = at.x * element;
    side.y = at.y;
    side.z = at.z;
    return side;
  }
  const auto &memory = operand.op.ptr;
  side.device = memory.ptr;
  side.pitch = (memory.rowLength ? memory.rowLength : extent.width) * element;
  side.height = memory.layerHeight ? memory.layerHeight : extent.height;
  return side;
}

CUresult describeBox(const CUDA_MEMCPY3D_BATCH_OP &op, BatchCopy &copy) {
  const size_t from = elementBytes(op.src), to = elementBytes(op.dst);
  if (!isWellFormed(op, from, to))
    return CUDA_ERROR_INVALID_VALUE;
  const size_t element = std::max(from, to);
  const Side source = toSide(op.src, op.extent, element),
             target = toSide(op.dst, op.extent, element);
  CUDA_MEMCPY3D &c = copy.box;
  c.srcMemoryType = source.type;
  c.srcDevice = source.device;
  c.srcArray = source.array;
  c.srcXInBytes = source.x;
  c.srcY = source.y;
  c.srcZ = source.z;
  c.srcPitch = source.pitch;
  c.srcHeight = source.height;
  c.dstMemoryType = target.type;
  c.dstDevice = target.device;
  c.dstArray = target.array;
  c.dstXInBytes = target.x;
  c.dstY = target.y;
  c.dstZ = target.z;
  c.dstPitch = target.pitch;
  c.dstHeight = target.height;
  c.WidthInBytes = op.extent.width * element;
  c.Height = op.extent.height;
  c.Depth = op.extent.depth;
  copy.order = op.srcAccessOrder;
  copy.flags = op.flags;
  return CUDA_SUCCESS;
}

CUresult copyBoxes(size_t count, const CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
                   unsigned long long flags, CUstream stream) {
  if (failed)
    *failed = kNone;
  if (!copies || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  return copyBatch(count, failed, stream,
                   [&](size_t i, BatchCopy &copy) { return describeBox(copies[i], copy); });
}

} // namespace

PTXRUN_STREAM_API(cuMemcpyBatchAsync_v2, _ptsz,
                  (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t count,
                   CUmemcpyAttributes *attributes, size_t *firsts, size_t attributeCount,
                   CUstream stream),
                  (to, from, bytes, count, attributes, firsts, attributeCount, stream)) {
  return copyRanges(to, from, bytes, count, attributes, firsts, attributeCount, nullptr, stream);
}
PTXRUN_STREAM_API(cuMemcpyBatchAsync, _ptsz,
                  (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t count,
                   CUmemcpyAttributes *attributes, size_t *firsts, size_t attributeCount,
                   size_t *failed, CUstream stream),
                  (to, from, bytes, count, attributes, firsts, attributeCount, failed, stream)) {
  return copyRanges(to, from, bytes, count, attributes, firsts, attributeCount, failed, stream);
}
PTXRUN_STREAM_API(cuMemcpy3DBatchAsync_v2, _ptsz,
                  (size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, unsigned long long flags,
                   CUstream stream),
                  (count, copies, flags, stream)) {
  return copyBoxes(count, copies, nullptr, flags, stream);
}
PTXRUN_STREAM_API(cuMemcpy3DBatchAsync, _ptsz,
                  (size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
                   unsigned long long flags, CUstream stream),
                  (count, copies, failed, flags, stream)) {
  return copyBoxes(count, copies, failed, flags, stream);
}
