// OpenGL as the process has it: its functions, found when they are first needed. Nothing is linked
// or loaded for it: a library that the program has not loaded can have no context.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ptxrun::driver {

struct GlFunctions {
#define GL_FUNCTION(result, name, parameters) result(*name) parameters = nullptr;
#define GL_OPTIONAL(result, name, parameters) GL_FUNCTION(result, name, parameters)
#include "loader/libcuda/gl_functions.def"
#undef GL_FUNCTION
#undef GL_OPTIONAL
};

/// What stands in the way of OpenGL on the calling thread.
enum class GlState {
  ready,     ///< a context is current
  noLibrary, ///< the process has not loaded OpenGL, or one without these functions
  noContext
};

/// The functions, for the calling thread's context; null unless it is ready. What is in the way is
/// said on stderr, once for each reason.
const GlFunctions *currentGl(GlState &);

} // namespace ptxrun::driver
