// Buffers as they are written on the command line and in launch descriptions.
//
//   [ROLE:]SOURCE           ROLE is in (the default), out, inout or print
//   x.npy                   a NumPy file
//   data.bin  data.bin:f32  any other file, taken as bytes or as elements of a type
//   f32[1024,16]            zeros; f32[N]:GENERATOR for other contents:
//       zero  iota  fill:V  rand:SEED  rand:SEED:LOW:HIGH  expr:EXPRESSION  or values: 1, 2, 3
//   out:y.npy=f32[1024]     starts as what follows '=' and is written to y.npy after the last
//   launch inout:y.npy             read from y.npy and written back to it print:SOURCE shown on the
//   terminal after the last launch
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "loader/ptxrun/array.h"
#include "loader/ptxrun/expression.h"

namespace ptxrun::command {

struct BufferSpec {
  enum class Role { in, out, inout, print };
  Role role = Role::in;
  std::string source; ///< what it is read or generated from; empty for `out:FILE` without '='
  std::string output; ///< the file it is written to; empty: none
};

/// Splits role, file and source; looks at no file.
BufferSpec parseBufferSpec(std::string_view text);

/// Reads or generates. Relative file names are looked up in `directory` (empty: the working
/// directory); expressions may name the buffers and constants in `earlier`. Throws UsageError.
Array makeArray(const BufferSpec &, const std::string &directory,
                const std::vector<Symbol> &earlier);

/// "f32[4]:..." or "f32[4]": looks like a generated buffer.
bool isGenerated(std::string_view source);

/// `name` in `directory` unless it is absolute.
std::string joinPath(const std::string &directory, const std::string &name);

/// The first elements, for `print:`; at most `limit`.
std::string preview(const Array &, uint64_t limit);

} // namespace ptxrun::command
