// LaneBuilder: what a handler sees while it lowers one instruction.
//
// A handler is a function `void lowerAdd(LaneBuilder &b, const check::Instruction &in)` that the
// instruction table names. It reads operands as the types the instruction gives them, computes with
// `b.ir`, and writes the result:
//
//     void lowerMulWide(LaneBuilder &b, const check::Instruction &in) {
//       llvm::Value *a = b.read(in, 1), *c = b.read(in, 2);       // iN of in.operands[i].type
//       llvm::Type *wide = b.ir.getIntNTy(2 * a->getType()->getIntegerBitWidth());
//       const bool isSigned = isa::isSigned(in.type());
//       b.write(in, 0, b.ir.CreateMul(b.extend(a, wide, isSigned), b.extend(c, wide, isSigned)));
//     }
//
// Types. Integers and bits are iN, pred is i1, f16 half, bf16 bfloat, f32 and tf32 float, f64
// double. Every packed type (f16x2, bf16x2, f32x2, u8x4, s16x2, e4m3x2 ...) and every narrow float
// (e4m3, e5m2, e2m1 ..., ue8m0) is an integer of its width: handlers take it apart with split() and
// join(). IR vectors occur only as the type of one load or store.
//
// Guards are not the handler's business. `@p` on a form with Effect::lane: the handler runs
// unguarded and write() keeps the old value where p is false (so lane handlers must not trap, store
// or call anything that is not pure). On any other effect the handler's code stands in a block of
// its own that is branched around. Only control handlers look at the guard themselves, through
// guard().
//
// Code that a handler emits may span several blocks: b.ir's insertion point after the handler is
// where the next instruction goes; where it has a terminator, what follows up to the next label is
// dead and is not lowered. Debug locations are set already.
#pragma once
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include <string>
#include <vector>

#include "translate/check/checked_module.h"
#include "translate/check/debug_frame.h"
#include "translate/lower/lane_module.h"

namespace ptxrun::lower {

class ModuleBuilder;

/// Rounding of a floating point result as written; nearestEven where nothing was written.
enum class Rounding : uint8_t { nearestEven, zero, down, up, nearestAway, stochastic };

class LaneBuilder {
 public:
  /// Builds the body of `target` (already declared, empty) from `source`.
  LaneBuilder(ModuleBuilder &, const check::Function &source, llvm::Function *target);
  LaneBuilder(const LaneBuilder &) = delete;
  LaneBuilder &operator=(const LaneBuilder &) = delete;

  llvm::IRBuilder<> ir;

  // --- Types -----------------------------------------------------------------------------------

  /// The IR type of a PTX type as stated at the top; void for Type::none.
  llvm::Type *typeOf(isa::Type);
  /// iN.
  llvm::IntegerType *intType(unsigned bits) { return ir.getIntNTy(bits); }

  // --- Operands --------------------------------------------------------------------------------

  /// The value of in.operands[i] as its own type (Operand::type). A register wider than that type
  /// is truncated, a narrower one extended by the type's sign; a negated predicate comes negated;
  /// immediates, special registers, `.x` components, addresses of variables and functions as values
  /// work alike. A vector operand {a,b} read so is joined, element 0 lowest.
  llvm::Value *read(const check::Instruction &, size_t i);
  /// The same as another type than the operand's.
  llvm::Value *read(const check::Operand &, isa::Type);
  /// The operand read as an iN of `bits` (the raw register bits, zero-extended or truncated).
  llvm::Value *readBits(const check::Operand &, unsigned bits);
  /// The elements of a vector operand (or of a vector register), each as `element`. A sink gives
  /// poison.
  llvm::SmallVector<llvm::Value *, 8> readElements(const check::Operand &, isa::Type element);

  /// Writes in.operands[i]. `value` has the IR type of the operand's type, or any type of the same
  /// width (it is bitcast). A register wider than the value receives it extended: by sign if
  /// Operand::type is signed, else by zero; a narrower one truncated. Nothing happens for `_` and
  /// absent operands. A vector operand {lo,hi} takes a scalar of the total width apart.
  void write(const check::Instruction &, size_t i, llvm::Value *value);
  void write(const check::Operand &, llvm::Value *value);
  /// As write(), but extending by `isSigned` whatever the operand's type says (ld.s8 into a .b32
  /// register).
  void write(const check::Operand &, llvm::Value *value, bool isSigned);
  /// Writes each element of a vector operand (or vector register).
  void writeElements(const check::Operand &, llvm::ArrayRef<llvm::Value *> elements,
                     bool isSigned = false);

  /// True if the instruction has operand i and it is neither absent nor `_`.
  bool has(const check::Instruction &in, size_t i) const {
    return i < in.operands.size() && in.operands[i] &&
           in.operands[i].kind != check::Operand::Kind::sink;
  }

  /// A special register; component 1..3 of the vector ones.
  llvm::Value *specialRegister(isa::SpecialRegister, uint8_t component = 0);

  /// The carry flag CC.CF of extended-precision arithmetic (PTX ISA 9.7.2), an i1 per function.
  llvm::Value *readCarry();
  void writeCarry(llvm::Value *);

  // --- Values ----------------------------------------------------------------------------------

  llvm::ConstantInt *constant(unsigned bits, uint64_t value, bool isSigned = false) {
    return ir.getInt(llvm::APInt(bits, value, isSigned));
  }
  /// A floating point constant of `type` (half, bfloat, float, double), rounded to nearest.
  llvm::Constant *constant(llvm::Type *type, double value) {
    return llvm::ConstantFP::get(type, value);
  }
  /// Reinterprets any scalar as iN of its own width; the reverse is cast().
  llvm::Value *toBits(llvm::Value *);
  /// Bitcast between scalars of one width (no-op where the types agree).
  llvm::Value *cast(llvm::Value *, llvm::Type *);
  /// Sign or zero extension or truncation of an integer to `type`.
  llvm::Value *extend(llvm::Value *, llvm::Type *type, bool isSigned);
  /// Takes an integer apart into values of `element` (any scalar type), lowest bits first.
  llvm::SmallVector<llvm::Value *, 8> split(llvm::Value *, llvm::Type *element);
  /// The reverse: an integer of the total width, element 0 lowest.
  llvm::Value *join(llvm::ArrayRef<llvm::Value *> elements);
  llvm::Value *select(llvm::Value *condition, llvm::Value *yes, llvm::Value *no) {
    return ir.CreateSelect(condition, yes, no);
  }

  // --- Modifiers -------------------------------------------------------------------------------

  /// .rn .rz .rm .rp .rna .rs and .rni .rzi .rmi .rpi.
  static Rounding rounding(const check::Instruction &);
  /// True if one of .rn .rz .rm .rp (or an integer rounding) was written.
  static bool hasRounding(const check::Instruction &);

  // --- Calls -----------------------------------------------------------------------------------

  /// Calls an LLVM intrinsic overloaded on `types`.
  llvm::Value *intrinsic(llvm::Intrinsic::ID, llvm::ArrayRef<llvm::Type *> types,
                         llvm::ArrayRef<llvm::Value *> arguments);
  /// Calls a function of the lane library (intrinsics/lane: `float ptx_ex2_approx_ftz_f32(float)`),
  /// which is pure: declared `memory(none) nounwind willreturn speculatable`, linked in and inlined
  /// after lowering. The argument types are the arguments' own. half and bfloat pass as i16 (C++
  /// has no such parameter types): use toBits and cast.
  llvm::Value *library(llvm::StringRef name, llvm::Type *result,
                       llvm::ArrayRef<llvm::Value *> arguments);

  /// What a call to a `ptx.*` word may do, as attributes on its declaration.
  enum class WordEffect : uint8_t {
    pure,       ///< memory(none), speculatable
    ordered,    ///< reads a clock: order is kept, no memory visible to IR
    convergent, ///< warp collective: never merged, moved or removed, used or not; other lanes may
                ///< wait for it
    sync,       ///< convergent and orders memory: barriers
    memory,     ///< may read and write memory (vprintf, malloc)
    noReturn,   ///< does not return; the caller adds `unreachable`
  };
  /// Calls a word of vocabulary.h, declaring it on first use.
  llvm::CallInst *word(llvm::StringRef name, llvm::Type *result,
                       llvm::ArrayRef<llvm::Value *> arguments, WordEffect);

  // --- Memory ----------------------------------------------------------------------------------

  /// The address operand as an integer: i64, or i32 for `.shared` (the offset in the window).
  /// `space` generic means as the operand says; a variable's own space is translated where the
  /// instruction's is generic.
  llvm::Value *address(const check::Operand &, isa::StateSpace);
  /// The pointer to access: one inttoptr of address(); host pointers throughout except `.shared`
  /// (address space 3).
  llvm::Value *pointer(const check::Operand &, isa::StateSpace);
  /// As pointer(), but always an address of the host: what the runtime's words take.
  llvm::Value *hostPointer(const check::Operand &, isa::StateSpace);
  /// The host address of `.shared` offset 0, as i64.
  llvm::Value *sharedBase();
  /// The host pointer of a variable that has one, null for `.shared` variables and for no variable.
  llvm::Value *variablePointer(const check::Variable *);
  /// What alloca takes from (9.7.17): `memory` holds kStackBytes, `used` is an i64 in storage. Zero
  /// at the function's entry.
  static constexpr uint64_t kStackBytes = 8192;
  struct Stack {
    llvm::AllocaInst *memory = nullptr, *used = nullptr;
  };
  const Stack &stack();
  /// Memory of the lane for one instruction's use.
  llvm::AllocaInst *temporary(llvm::Type *type) { return allocaAtEntry(type, "temporary"); }
  /// The state space an instruction names (`ld.shared`), generic where it names none.
  /// `.shared::cta` is shared.
  static isa::StateSpace space(const check::Instruction &);

  // --- Control ---------------------------------------------------------------------------------

  /// The guard `@p`/`@!p` as i1, null where there is none.
  llvm::Value *guard(const check::Instruction &);
  /// The block that starts at a label.
  llvm::BasicBlock *block(const check::Label &);
  /// A fresh block of the function.
  llvm::BasicBlock *newBlock(const llvm::Twine &name);
  /// Branches on the guard and enters the block that runs where it holds; returns the block after
  /// it, null where there is no guard. For control handlers, whose guards nobody else looks at.
  llvm::BasicBlock *enterGuarded(const check::Instruction &);
  /// Leaves that block (unless it ended already) and goes on in `after`; nothing for null.
  void leaveGuarded(llvm::BasicBlock *after);
  /// Ends the kernel's or function's lane: `ret` in a kernel, ptx.exit in a function.
  void exitLane();
  /// Returns from the function with the values of its return parameters.
  void returnFromFunction();

  // --- Errors ----------------------------------------------------------------------------------

  /// Reports, at the instruction, something that cannot be executed; lowering goes on and fails at
  /// its end.
  void error(const check::Instruction &, std::string message);

  ModuleBuilder &module() { return module_; }
  const check::Function &source() const { return source_; }
  llvm::Function *target() const { return target_; }
  /// The instruction being lowered.
  const check::Instruction &current() const { return *current_; }

  // --- The driver (lower.cpp) ------------------------------------------------------------------

  /// Lowers the whole body. False if the function holds something that cannot be executed
  /// (diagnostics say what).
  bool run();

  /// Storage of a function-scope variable in `.local` or `.param` space, or of a parameter: a
  /// pointer in address space 0.
  llvm::Value *storage(const check::Variable &);
  /// The register's storage (element i of a vector register).
  llvm::AllocaInst *slot(const check::Register &, unsigned element = 0);

 private:
  void countFloatUses();
  void startBlockAt(size_t statement);
  void declareCarry();
  llvm::Type *registerType(const check::Register &);
  void bindParameters();
  void createBlocks();
  void lowerInstruction(const check::Instruction &);
  void markExecuted(const check::Instruction &);
  void setLocation(uint32_t line);
  llvm::Value *sharedPlace(uint64_t offset);
  llvm::Value *placeInVariable(const check::Operand &);
  llvm::Value *readSlot(llvm::AllocaInst *);
  void writeSlot(llvm::AllocaInst *, llvm::Value *);
  void enterBlock();
  void eraseUnreadSlots();
  void openDebugFrame();
  void showToDebugger(llvm::Value *value, uint32_t word);
  void showVariables();
  void announceStep(const check::Instruction &);
  void closeDebugFrame(bool isExit);
  llvm::Value *readRegister(const check::Register &, unsigned element);
  void writeRegister(const check::Register &, unsigned element, llvm::Value *, bool isSigned);
  llvm::Value *readRaw(const check::Operand &, isa::Type);
  llvm::Value *addressAsValue(const check::Operand &, unsigned bits);
  llvm::Value *immediate(const check::Operand &, isa::Type);
  llvm::AllocaInst *allocaAtEntry(llvm::Type *, const llvm::Twine &name, unsigned alignment = 0);

  ModuleBuilder &module_;
  const check::Function &source_;
  llvm::Function *target_;
  const check::Instruction *current_ = nullptr;
  llvm::Value *laneGuard_ =
      nullptr; ///< the guard write() selects by, while a guarded lane form is lowered
  std::vector<llvm::SmallVector<llvm::AllocaInst *, 1>> slots_; ///< by Register::index
  std::vector<int32_t>
      floatUses_; ///< by Register::index: uses as f32 or f64 less uses as an integer
  llvm::DenseMap<const check::Variable *, llvm::Value *> storage_;
  std::vector<llvm::BasicBlock *>
      statementBlocks_; ///< by statement: the block a label starts there, or null
  llvm::AllocaInst *carry_ = nullptr;
  llvm::BasicBlock *valuesBlock_ = nullptr; ///< the block that the next two speak of
  llvm::DenseMap<llvm::AllocaInst *, llvm::Value *>
      blockValues_;                             ///< what slots hold at the insertion point
  llvm::SetVector<llvm::AllocaInst *> written_; ///< slots whose memory is behind
  Stack stack_;
  std::unique_ptr<check::DebugFrame> debugFrame_; ///< null unless CodeOptions::isDebugged
  std::vector<uint32_t> marks_; ///< of recorded code: check::executionMarks of source_
  uint32_t firstNumber_ = 0;    ///< of recorded code: number of the first instruction
  uint32_t debugFirst_ = 0;     ///< number of the first instruction
  llvm::AllocaInst *debugWords_ = nullptr;
  llvm::DenseMap<llvm::AllocaInst *, uint32_t> debugPlaces_; ///< words of slots in the frame
  llvm::BasicBlock *entry_ = nullptr;                        ///< allocas only
  llvm::DISubprogram *subprogram_ = nullptr;
  bool failed_ = false;
};

} // namespace ptxrun::lower
