// What a file holds, for people who ask why it does or does not run: `ptxrun inspect`.
#pragma once
#include <string>
#include <vector>

#include "loader/image/image.h"

namespace ptxrun::image {

enum class FileKind { text, fatBinary, cubin, executable, sharedObject, object };

/// How the program reaches the driver.
enum class Runtime {
  none,      ///< nothing of CUDA is called
  linkedIn,  ///< NVIDIA's static runtime, with its symbols
  stripped,  ///< the same without symbols: it cannot be replaced
  tooOld,    ///< NVIDIA's static runtime of CUDA 11 or before, whose functions are others
  shared,    ///< libcudart.so.NN
  driver,    ///< libcuda.so.1 alone
  notLinked, ///< an object: whichever it is linked with
};

/// An entry with what looking into it told.
struct EntryContents {
  Entry entry;
  uint64_t bytes = 0;               ///< as it is when unpacked
  std::vector<std::string> kernels; ///< of a cubin
  std::string problem;              ///< why it cannot be unpacked or read; empty: nothing is wrong
};

struct FatBinaryContents {
  std::vector<EntryContents> entries;
  bool isOfObject = false; ///< one of those that were linked to one program (nvcc -rdc=true)
  std::string problem;     ///< why no more entries can be read
};

struct Contents {
  FileKind kind = FileKind::text;
  std::vector<FatBinaryContents> fatBinaries; ///< a bare cubin is an entry of one
  Runtime runtime = Runtime::none;
  std::string runtimeLibrary;               ///< libcudart.so.13, where it is shared
  std::vector<std::string> nvidiaLibraries; ///< others of NVIDIA's that it needs: libcublas.so.13
  /// The PTX that the driver takes, as many texts as it would load modules. Those that refer to one
  /// another are one text.
  std::vector<std::string> ptx;
  std::vector<std::string> machineCodeOnly; ///< kernels of cubins that no PTX entry goes with
};

/// Reads a whole file. Fails where it is nothing that holds code, or its own headers are broken;
/// what is broken inside is told at its place. Refers to the bytes.
device::Outcome readContents(std::span<const std::byte> bytes, Target, Contents &);

/// What to do so that code for this target is there: what the entries are and which -gencode to
/// add; empty where there is PTX.
std::string whatToAdd(const Contents &, Target);

/// The -gencode of nvcc that adds PTX of the kernels in cubins.
std::string optionToAdd(const Contents &, Target);

/// The kernels in a cubin, in the order of its symbols.
device::Outcome listCubinKernels(std::span<const std::byte> cubin, std::vector<std::string> &);

} // namespace ptxrun::image
