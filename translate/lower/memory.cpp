// ld, st and their kin (PTX ISA 9.7.9.8 to 9.7.9.11, 9.7.9.15 to 9.7.9.18).
#include <llvm/IR/Metadata.h>

#include <algorithm>

#include "translate/lower/lane_builder.h"
#include "translate/lower/memory_order.h"
#include "translate/lower/module_builder.h"
#include "translate/lower/types.h"

namespace ptxrun::lower {

using check::Instruction;
using check::Operand;
using isa::StateSpace;
using isa::Token;

namespace {

/// What one ld or st touches.
struct Access {
  StateSpace space = StateSpace::generic;
  isa::Type type = isa::Type::none;
  unsigned count = 1; ///< elements
  unsigned elementBytes = 0;
  MemoryOrder order;
  llvm::Value *pointer = nullptr;
  llvm::Align alignment;
  bool isInvariant = false; ///< nothing writes there while the kernel runs
  unsigned bytes() const { return count * elementBytes; }
};

/// The alignment of the kernel's parameter block that every launch keeps.
constexpr uint64_t kParamAlignment = 8;

// PTX: an access is aligned to its whole size (5.4.5), vectors included. Parameters lie where the
// caller put them.
llvm::Align alignmentOf(LaneBuilder &b, const Operand &address, unsigned bytes) {
  const llvm::Align natural(std::min(32u, bytes));
  const check::Variable *variable = address.variable;
  if (!variable || variable->space == StateSpace::shared)
    return natural;
  const bool isKernelParam = b.module().paramOffset(*variable) != nullptr;
  const uint64_t base =
      isKernelParam ? kParamAlignment : std::max<uint64_t>(1, variable->alignment);
  const uint64_t place = (isKernelParam ? *b.module().paramOffset(*variable) : 0) +
                         static_cast<uint64_t>(address.integer);
  const llvm::Align aligned = llvm::commonAlignment(llvm::Align(base), place);
  return std::min(natural, address.reg ? llvm::commonAlignment(aligned, address.scale) : aligned);
}

Access describe(LaneBuilder &b, const Instruction &in, const Operand &address) {
  Access access;
  access.space = LaneBuilder::space(in);
  if (access.space == StateSpace::generic && address.variable)
    access.space = address.variable->space;
  access.type = in.type();
  access.count = std::max<unsigned>(1, in.vector);
  access.elementBytes = memoryBits(access.type) / 8;
  access.order = accessOrder(b.ir.getContext(), in, access.space);
  access.pointer = b.pointer(address, access.space);
  access.alignment = alignmentOf(b, address, access.bytes());
  access.isInvariant = access.space == StateSpace::constant ||
                       (address.variable && b.module().paramOffset(*address.variable));
  return access;
}

/// Atomic vector accesses are whole up to 16 bytes, which programs count on (value and status in
/// one word); wider ones are several.
unsigned atomicPieceBytes(const Access &access) { return std::min(16u, access.bytes()); }

llvm::Value *loadOne(LaneBuilder &b, const Access &access, llvm::Type *type, llvm::Value *pointer,
                     llvm::Align alignment) {
  llvm::LoadInst *load = b.ir.CreateAlignedLoad(type, pointer, alignment, access.order.isVolatile);
  if (access.order.isAtomic())
    load->setAtomic(access.order.ordering, access.order.scope);
  if (access.isInvariant)
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(b.ir.getContext(), {}));
  return load;
}

llvm::Value *pieceAt(LaneBuilder &b, llvm::Value *pointer, unsigned byte) {
  return byte == 0 ? pointer : b.ir.CreateConstGEP1_32(b.ir.getInt8Ty(), pointer, byte);
}

llvm::SmallVector<llvm::Value *, 8> loadAtomic(LaneBuilder &b, const Access &access) {
  const unsigned piece = atomicPieceBytes(access);
  llvm::SmallVector<llvm::Value *, 8> elements;
  for (unsigned at = 0; at < access.bytes(); at += piece) {
    llvm::Value *bits = loadOne(b, access, b.intType(8 * piece), pieceAt(b, access.pointer, at),
                                llvm::Align(piece));
    elements.append(b.split(bits, irType(b.ir.getContext(), access.type)));
  }
  return elements;
}

// One load of a vector, then its elements: simt sees a single access of `count` neighbours.
llvm::SmallVector<llvm::Value *, 8> loadPlain(LaneBuilder &b, const Access &access) {
  llvm::Type *element = irType(b.ir.getContext(), access.type);
  if (access.count == 1)
    return {loadOne(b, access, element, access.pointer, access.alignment)};
  llvm::Value *whole = loadOne(b, access, llvm::FixedVectorType::get(element, access.count),
                               access.pointer, access.alignment);
  llvm::SmallVector<llvm::Value *, 8> elements;
  for (unsigned i = 0; i < access.count; ++i)
    elements.push_back(b.ir.CreateExtractElement(whole, static_cast<uint64_t>(i)));
  return elements;
}

void load(LaneBuilder &b, const Instruction &in, bool isReadOnly) {
  Access access = describe(b, in, in.operands[1]);
  access.isInvariant |= isReadOnly;
  const auto elements = access.order.isAtomic() ? loadAtomic(b, access) : loadPlain(b, access);
  const bool isSigned = isa::isSigned(access.type);
  if (access.count == 1)
    b.write(in.operands[0], elements[0], isSigned);
  else
    b.writeElements(in.operands[0], elements, isSigned);
}

void storeOne(LaneBuilder &b, const Access &access, llvm::Value *value, llvm::Value *pointer,
              llvm::Align alignment) {
  llvm::StoreInst *store =
      b.ir.CreateAlignedStore(value, pointer, alignment, access.order.isVolatile);
  if (access.order.isAtomic())
    store->setAtomic(access.order.ordering, access.order.scope);
}

void storeAtomic(LaneBuilder &b, const Access &access, llvm::ArrayRef<llvm::Value *> elements) {
  const unsigned piece = atomicPieceBytes(access), perPiece = piece / access.elementBytes;
  for (unsigned at = 0; at < access.count; at += perPiece)
    storeOne(b, access, b.join(elements.slice(at, perPiece)),
             pieceAt(b, access.pointer, at * access.elementBytes), llvm::Align(piece));
}

void storePlain(LaneBuilder &b, const Access &access, llvm::ArrayRef<llvm::Value *> elements) {
  if (access.count == 1)
    return storeOne(b, access, elements[0], access.pointer, access.alignment);
  llvm::Value *whole =
      llvm::PoisonValue::get(llvm::FixedVectorType::get(elements[0]->getType(), access.count));
  for (unsigned i = 0; i < access.count; ++i)
    whole = b.ir.CreateInsertElement(whole, elements[i], static_cast<uint64_t>(i));
  storeOne(b, access, whole, access.pointer, access.alignment);
}

} // namespace

/// ld, ldu (9.7.9.8, 9.7.9.10).
void lowerLoad(LaneBuilder &b, const Instruction &in) { load(b, in, in.form->opcode == "ldu"); }

/// ld.global.nc (9.7.9.9): what it reads is read-only for the kernel's life.
void lowerLoadNonCoherent(LaneBuilder &b, const Instruction &in) { load(b, in, true); }

/// st (9.7.9.11).
void lowerStore(LaneBuilder &b, const Instruction &in) {
  const Access access = describe(b, in, in.operands[0]);
  const Operand &source = in.operands[1];
  const auto elements = access.count == 1
                            ? llvm::SmallVector<llvm::Value *, 8>{b.read(source, access.type)}
                            : b.readElements(source, access.type);
  if (access.order.isAtomic())
    storeAtomic(b, access, elements);
  else
    storePlain(b, access, elements);
}

/// prefetch, prefetchu, applypriority: they promise nothing, and the processor's own prefetching is
/// better informed.
void lowerPrefetch(LaneBuilder &, const Instruction &) {}

/// pmevent triggers performance counters, which there are none of.
void lowerPmevent(LaneBuilder &, const Instruction &) {}

/// discard.L2: the contents become undetermined, so that leaving them is right.
void lowerDiscard(LaneBuilder &, const Instruction &) {}

} // namespace ptxrun::lower
