// A texture of OpenGL as interoperability sees it: what it is, and its texels, without any trace in
// the context's state.
#pragma once
#include <vector>

#include "loader/libcuda/cuda_abi.h"
#include "loader/libcuda/gl_functions.h"

namespace ptxrun::driver {

/// What CUDA calls the texture, and how GL hands its texels over.
struct GlTextureShape {
  CUDA_ARRAY3D_DESCRIPTOR description{};
  unsigned levels = 0;
  unsigned transferFormat = 0, transferType = 0;
  bool operator==(const GlTextureShape &) const;
};

/// True for the targets that CUDA knows; renderbuffers apart.
bool isGlTextureTarget(unsigned target);
constexpr unsigned kGlRenderbuffer = 0x8D41;

/// While one lives, the texture is bound, pixels are transferred without gaps and from and to
/// memory; what was before is again at the end.
class GlTexture {
 public:
  GlTexture(const GlFunctions &, unsigned texture, unsigned target);
  ~GlTexture();
  GlTexture(const GlTexture &) = delete;
  GlTexture &operator=(const GlTexture &) = delete;

  /// False for formats that CUDA does not have and for textures without an image.
  bool readShape(GlTextureShape &) const;
  /// All texels of a level, layer by layer, or of one face of a cube.
  void read(const GlTextureShape &, unsigned level, unsigned face, void *to) const;
  void write(const GlTextureShape &, unsigned level, unsigned face, const void *from) const;
  /// 6 for cubes, else 1.
  unsigned faces() const;

 private:
  struct Saved {
    unsigned name;
    int value;
  };
  unsigned imageTarget(unsigned face) const;
  int levelParameter(unsigned level, unsigned name) const;
  unsigned countLevels(unsigned longest) const;
  void save(unsigned name, int replacement);

  const GlFunctions &gl_;
  const unsigned target_;
  std::vector<Saved> pixelStore_;
  int texture_ = 0, packBuffer_ = 0, unpackBuffer_ = 0;
};

} // namespace ptxrun::driver
