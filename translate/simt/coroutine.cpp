// `gang_start`: the kernel body as an LLVM coroutine. Where every suspension is inline in the body,
// a gang needs no stack of its own: what lives across a suspension lies in a frame, and switching
// gangs is a call.
//
//     frame = coro.begin(ptxrun_frame_alloc(gang, coro.size)); coro.suspend; body; final suspend
//     ptxrun_X(...)   =>   if (ptxrun_X_begin(...)) coro.suspend
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "translate/simt/entry.h"
#include "translate/simt/words.h"

namespace ptxrun::simt {
namespace {

using llvm::Value;

class Coroutine {
 public:
  Coroutine(ModuleContext &context, llvm::Function &start)
      : context_(context), start_(start), b_(start.getContext()) {}

  void build(llvm::function_ref<llvm::CallInst *(llvm::IRBuilder<> &)> callBody) {
    llvm::LLVMContext &c = start_.getContext();
    start_.addFnAttr(llvm::Attribute::PresplitCoroutine);
    auto *entry = llvm::BasicBlock::Create(c, "entry", &start_);
    end_ = llvm::BasicBlock::Create(c, "coro.end", &start_);
    b_.SetInsertPoint(entry);
    setLine();
    Value *null = llvm::ConstantPointerNull::get(b_.getPtrTy());
    Value *id =
        b_.CreateIntrinsic(llvm::Intrinsic::coro_id, {}, {b_.getInt32(64), null, null, null});
    Value *size = b_.CreateIntrinsic(llvm::Intrinsic::coro_size, {b_.getInt64Ty()}, {});
    llvm::FunctionCallee allocate = context_.module.getOrInsertFunction(
        "ptxrun_frame_alloc", b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty());
    Value *memory = b_.CreateCall(allocate, {start_.getArg(2), size});
    handle_ = b_.CreateIntrinsic(llvm::Intrinsic::coro_begin, {}, {id, memory});
    // Suspended before it begins: what comes before the first suspension would else be compiled
    // twice.
    auto *begin = llvm::BasicBlock::Create(c, "begin", &start_, end_);
    suspend(false, begin);
    b_.SetInsertPoint(begin);
    setLine();
    llvm::CallInst *call = callBody(b_);
    suspend(true, nullptr);
    b_.SetInsertPoint(end_);
    setLine();
    b_.CreateIntrinsic(llvm::Intrinsic::coro_end, {},
                       {handle_, b_.getFalse(), llvm::ConstantTokenNone::get(c)});
    b_.CreateRet(handle_);
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*call, info).isSuccess())
      context_.fail("the body of a coroutine cannot be inlined");
    llvm::SmallVector<llvm::CallInst *> calls;
    for (llvm::BasicBlock &block : start_)
      for (llvm::Instruction &i : block)
        if (entryAt(i).maySuspend())
          calls.push_back(llvm::cast<llvm::CallInst>(&i));
    for (llvm::CallInst *one : calls)
      replace(*one, entryAt(*one));
  }

 private:
  void setLine() {
    if (llvm::DISubprogram *s = start_.getSubprogram())
      b_.SetCurrentDebugLocation(llvm::DILocation::get(start_.getContext(), s->getLine(), 0, s));
  }

  /// coro.suspend at the builder's place; goes on at `resumed`. Destroying a frame is rt's
  /// business.
  void suspend(bool isFinal, llvm::BasicBlock *resumed) {
    llvm::LLVMContext &c = start_.getContext();
    Value *what = b_.CreateIntrinsic(llvm::Intrinsic::coro_suspend, {},
                                     {llvm::ConstantTokenNone::get(c), b_.getInt1(isFinal)});
    llvm::SwitchInst *choice = b_.CreateSwitch(what, end_, 2);
    if (resumed)
      choice->addCase(b_.getInt8(0), resumed);
    choice->addCase(b_.getInt8(1), end_);
  }

  void replace(llvm::CallInst &call, const GangEntry &how) {
    llvm::BasicBlock *before = call.getParent();
    llvm::BasicBlock *after = llvm::SplitBlock(before, &call);
    auto *wait = llvm::BasicBlock::Create(start_.getContext(), "suspend", &start_, after);
    before->getTerminator()->eraseFromParent();
    b_.SetInsertPoint(before);
    b_.SetCurrentDebugLocation(call.getDebugLoc());
    llvm::SmallVector<Value *> arguments(call.args());
    Value *result = nullptr, *participants = nullptr;
    if (how.suspension != GangEntry::Suspension::withoutResult) {
      llvm::IRBuilder<> entry(&start_.getEntryBlock(), start_.getEntryBlock().begin());
      result =
          entry.CreateAlloca(llvm::ArrayType::get(entry.getInt32Ty(), 2), nullptr, "wait.result");
      if (how.suspension == GangEntry::Suspension::ofBarRed)
        participants = arguments.pop_back_val();
      arguments.push_back(result);
    }
    llvm::SmallVector<llvm::Type *> types;
    for (Value *a : arguments)
      types.push_back(a->getType());
    llvm::FunctionCallee begin = context_.module.getOrInsertFunction(
        std::string(how.name) + "_begin", llvm::FunctionType::get(b_.getInt1Ty(), types, false));
    llvm::CallInst *must = b_.CreateCall(begin, arguments);
    must->addRetAttr(llvm::Attribute::ZExt);
    must->addFnAttr(llvm::Attribute::NoUnwind);
    b_.CreateCondBr(must, wait, after);
    b_.SetInsertPoint(wait);
    suspend(false, after);
    b_.SetInsertPoint(&call);
    if (result) {
      Value *first = b_.CreateLoad(b_.getInt32Ty(), result);
      if (participants)
        b_.CreateStore(
            b_.CreateLoad(b_.getInt32Ty(), b_.CreateConstGEP1_32(b_.getInt32Ty(), result, 1)),
            participants);
      call.replaceAllUsesWith(call.getType()->isIntegerTy(1) ? b_.CreateIsNotNull(first) : first);
    }
    call.eraseFromParent();
  }

  ModuleContext &context_;
  llvm::Function &start_;
  llvm::IRBuilder<> b_;
  llvm::BasicBlock *end_ = nullptr;
  Value *handle_ = nullptr;
};

} // namespace

bool hasOnlyInlineSuspensions(const llvm::Module &m,
                              llvm::ArrayRef<const llvm::Function *> bodies) {
  for (const llvm::Function &f : m) {
    if (f.isDeclaration() || llvm::is_contained(bodies, &f))
      continue;
    for (const llvm::BasicBlock &b : f)
      for (const llvm::Instruction &i : b)
        if (entryAt(i).maySuspend())
          return false;
  }
  return true;
}

void buildCoroutine(ModuleContext &context, llvm::Function &start,
                    llvm::function_ref<llvm::CallInst *(llvm::IRBuilder<> &)> callBody) {
  Coroutine(context, start).build(callBody);
}

} // namespace ptxrun::simt
