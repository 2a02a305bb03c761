#include "loader/libcuda/gl_functions.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <atomic>
#include <mutex>

#include "loader/libcuda/report.h"

namespace ptxrun::driver {

namespace {

constexpr unsigned kGlVersion = 0x1F02;

/// Where OpenGL may be, beside the program and the libraries that it was linked with.
constexpr const char *kLibraries[] = {"libGL.so.1", "libOpenGL.so.0", "libOSMesa.so.8",
                                      "libOSMesa.so.6"};
constexpr const char *kFinderLibraries[] = {"libGL.so.1", "libGLX.so.0", "libEGL.so.1",
                                            "libOSMesa.so.8", "libOSMesa.so.6"};
constexpr const char *kFinders[] = {"glXGetProcAddressARB", "eglGetProcAddress",
                                    "OSMesaGetProcAddress"};

/// Programs with a loader of their own may export variables of the functions' names.
bool isFunction(void *address) {
  Dl_info info;
  void *symbol = nullptr;
  if (!dladdr1(address, &info, &symbol, RTLD_DL_SYMENT) || !symbol)
    return true;
  return ELF64_ST_TYPE(static_cast<const ElfW(Sym) *>(symbol)->st_info) != STT_OBJECT;
}

template <size_t N> void *findSymbol(const char *name, const char *const (&libraries)[N]) {
  if (void *found = dlsym(RTLD_DEFAULT, name); found && isFunction(found))
    return found;
  for (const char *library : libraries) {
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle ? dlsym(handle, name) : nullptr;
    if (handle)
      dlclose(handle);
    if (found)
      return found;
  }
  return nullptr;
}

/// Older libraries export only the oldest functions and name the others when asked.
void *findFunction(const char *name) {
  if (void *found = findSymbol(name, kLibraries))
    return found;
  for (const char *finder : kFinders)
    if (auto *ask = reinterpret_cast<void *(*)(const char *)>(findSymbol(finder, kFinderLibraries)))
      if (void *found = ask(name))
        return found;
  return nullptr;
}

bool findAll(GlFunctions &gl) {
  bool isComplete = true;
#define GL_FUNCTION(result, name, parameters)                                                      \
  gl.name = reinterpret_cast<result(*) parameters>(findFunction(#name));                           \
  isComplete &= gl.name != nullptr;
#define GL_OPTIONAL(result, name, parameters)                                                      \
  gl.name = reinterpret_cast<result(*) parameters>(findFunction(#name));
#include "loader/libcuda/gl_functions.def"
#undef GL_FUNCTION
#undef GL_OPTIONAL
  return isComplete;
}

/// Null until the program has loaded OpenGL; the same ever after.
const GlFunctions *loadedGl() {
  static std::mutex mutex;
  static GlFunctions functions;
  static bool isComplete = false;
  std::lock_guard lock(mutex);
  isComplete = isComplete || findAll(functions);
  return isComplete ? &functions : nullptr;
}

void reportOnce(std::atomic<bool> &isTold, const char *reason) {
  if (!isTold.exchange(true))
    report("no OpenGL interoperability: %s", reason);
}

} // namespace

const GlFunctions *currentGl(GlState &state) {
  static std::atomic<bool> isLibraryTold{false}, isContextTold{false};
  const GlFunctions *gl = loadedGl();
  if (!gl) {
    state = GlState::noLibrary;
    reportOnce(isLibraryTold, "this process has not loaded OpenGL (1.5 or later)");
    return nullptr;
  }
  if (!gl->glGetString(kGlVersion)) { // answers nothing where no context is current
    state = GlState::noContext;
    reportOnce(isContextTold, "the calling thread has no current OpenGL context");
    return nullptr;
  }
  state = GlState::ready;
  return gl;
}

} // namespace ptxrun::driver
