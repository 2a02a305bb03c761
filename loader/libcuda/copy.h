// Copies and fills as operations of a stream.
#pragma once
#include <memory>
#include <vector>

#include "loader/libcuda/context.h"

namespace ptxrun::driver {

/// One side of a copy: rows of `pitch` bytes, `height` rows in a slice.
struct CopySide {
  char *base = nullptr; ///< where the box starts
  size_t pitch = 0;     ///< bytes from row to row
  size_t slice = 0;     ///< bytes from slice to slice
};

/// A box of bytes, copied row by row; one row is a plain copy.
class CopyOperation final : public Operation {
 public:
  CopyOperation(CopySide to, CopySide from, size_t width, size_t height, size_t depth)
      : to_(to), from_(from), width_(width), height_(height), depth_(depth) {}
  CUresult run(Context &) override;
  bool isLarge() const override;

 private:
  void copyRows() const;
  CopySide to_, from_;
  size_t width_, height_, depth_;
};

/// Pieces one after the other: ranges of arrays, whose rows do not lie side by side.
class PiecesOperation final : public Operation {
 public:
  struct Piece {
    char *to;
    const char *from;
    size_t bytes;
  };
  explicit PiecesOperation(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}
  CUresult run(Context &) override;
  bool isLarge() const override;

 private:
  size_t totalBytes() const;
  std::vector<Piece> pieces_;
};

/// `height` rows of `width` elements of 1, 2 or 4 bytes set to one value.
class FillOperation final : public Operation {
 public:
  FillOperation(char *base, size_t pitch, unsigned value, unsigned elementBytes, size_t width,
                size_t height)
      : base_(base), pitch_(pitch), value_(value), elementBytes_(elementBytes), width_(width),
        height_(height) {}
  CUresult run(Context &) override;
  bool isLarge() const override;

 private:
  char *base_;
  size_t pitch_;
  unsigned value_, elementBytes_;
  size_t width_, height_;
};

/// The operation that a description stands for; CUDA_ERROR_INVALID_VALUE where it runs out of
/// memory or arrays, _INVALID_HANDLE for what is no array. A copy of nothing is none (null).
/// `isPageable`: it reads or writes host memory that the driver does not know.
CUresult makeCopy(const CUDA_MEMCPY3D &, std::shared_ptr<Operation> &, bool &isPageable);
CUresult makeFill(const CUDA_MEMSET_NODE_PARAMS &, std::shared_ptr<Operation> &);

enum class Completion {
  async, ///< the call may return before the work is done
  waits, ///< the call returns when the work is done
};

/// Runs the operation in the stream's order. What can be done on the spot without breaking that
/// order, is.
CUresult perform(Context &, Stream &, std::shared_ptr<Operation>, Completion);

/// True for memory that the driver allocated or that was registered: copies of it need not be done
/// before the call returns.
bool isPinned(const void *);
/// False if [address, address + bytes) runs out of its allocation or is mapped nowhere: such a copy
/// would be a fault.
bool isAccessible(const void *address, size_t bytes);

} // namespace ptxrun::driver
