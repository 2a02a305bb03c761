// NumPy's .npy files (format versions 1.0, 2.0 and 3.0), simple element types in either byte order.
#pragma once
#include <string>

#include "loader/ptxrun/array.h"

namespace ptxrun::command {

/// Throws UsageError that names the file and what is wrong with it.
Array readNpy(const std::string &path);
/// Writes version 1.0; bfloat16, which NumPy does not have, as '|V2'. Throws Failed.
void writeNpy(const std::string &path, const Array &);

} // namespace ptxrun::command
