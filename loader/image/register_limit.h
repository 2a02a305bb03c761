// How many registers a thread may have, as programs tell compilers (-maxrregcount). What those give
// for machine code is PTX here: the limit is its last line, a comment.
#pragma once
#include <string>
#include <string_view>

namespace ptxrun::image {

/// The text with the limit as its last line. 0: none, the text stays as it is.
std::string withRegisterLimit(std::string text, unsigned limit);
/// The limit that the text ends with; 0: none.
unsigned registerLimit(std::string_view text);
/// The smaller of two limits, of which 0 is none.
unsigned smallerLimit(unsigned, unsigned);
/// What a word of a compiler's options says: -maxrregcount=40, --maxrregcount=40. 0: nothing.
unsigned registerLimitOption(std::string_view word);

} // namespace ptxrun::image
