#include "translate/jit/places.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>

namespace ptxrun::jit {

using namespace llvm;

uint32_t lineAt(std::string_view elf, uint64_t offset) {
  Expected<std::unique_ptr<object::ObjectFile>> object = object::ObjectFile::createObjectFile(
      MemoryBufferRef(StringRef(elf.data(), elf.size()), "kernel"));
  if (!object) {
    consumeError(object.takeError());
    return 0;
  }
  for (const object::SectionRef &section : (*object)->sections()) {
    Expected<StringRef> name = section.getName();
    if (!name) {
      consumeError(name.takeError());
      continue;
    }
    if (*name != ".text")
      continue;
    const std::unique_ptr<DWARFContext> context = DWARFContext::create(**object);
    return context->getLineInfoForAddress({offset, section.getIndex()}).Line;
  }
  return 0;
}

} // namespace ptxrun::jit
