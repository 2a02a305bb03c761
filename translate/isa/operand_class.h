// Which registers may stand for which types, and arguments in words. Internal to the isa library.
#pragma once
#include <string>

#include "translate/isa/match.h"
#include "translate/isa/types.h"

namespace ptxrun::isa {

/// Bits mix with everything of their size, signed with unsigned, floats only with themselves and
/// bits; packed types live in .f16x2 and .b32 registers; narrow and alternate floats in bits only
/// (PTX ISA 9.4.1 and what ptxas accepts).
enum class Family : uint8_t { predicate, bits, integer, pair, half, floating, other };
Family familyOf(Type);
/// Can a register declared as `have` stand where `want` is asked for? `isGeneric`: the type was
/// written in the instruction; an integer may then stand in an .f16x2 register too.
bool registerFits(Type want, Type have, bool mayBeWider, bool isGeneric = true);
bool isAddressRegister(Type);
/// The type twice as wide that mul.wide gives.
Type doubled(Type);
/// ".u32"
std::string dotted(Type);
/// An argument in words: "a .f32 register", "an integer constant".
std::string describe(const Argument &);

} // namespace ptxrun::isa
