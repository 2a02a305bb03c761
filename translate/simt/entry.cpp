#include "translate/simt/entry.h"

#include <llvm/IR/DebugInfoMetadata.h>

#include "translate/simt/cta_versions.h"
#include "translate/simt/entry_builder.h"
#include "translate/simt/prepare.h"
#include "translate/simt/value_map.h"

namespace ptxrun::simt {
using llvm::Value;

llvm::Function *makeEntry(ModuleContext &context, llvm::StringRef name, llvm::Type *result,
                          llvm::ArrayRef<llvm::Type *> types, const llvm::Function &body,
                          llvm::GlobalValue::LinkageTypes linkage) {
  auto *f = llvm::Function::Create(llvm::FunctionType::get(result, types, false), linkage, name,
                                   context.module);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  describeAs(body, *f);
  return f;
}

void setLine(llvm::IRBuilder<> &b, const llvm::Function &f) {
  if (llvm::DISubprogram *s = f.getSubprogram())
    b.SetCurrentDebugLocation(llvm::DILocation::get(f.getContext(), s->getLine(), 0, s));
}

namespace {

/// Runs one gang: the full body if all its lanes exist, else the partial one.
void dispatch(Entry &e, llvm::Function *full, llvm::Function *partial, Value *const ctaid[3],
              Value *firstThread, Value *laneCount) {
  const unsigned w = e.context.lanes;
  if (!partial) {
    e.call(full, ctaid, firstThread, e.allLanes());
    return;
  }
  llvm::Function *f = e.b.GetInsertBlock()->getParent();
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(f->getContext(), name, f); };
  llvm::BasicBlock *onFull = block("gang.full"), *onPart = block("gang.part"),
                   *done = block("gang.done");
  e.b.CreateCondBr(e.b.CreateICmpEQ(laneCount, e.b.getInt32(w)), onFull, onPart);
  e.b.SetInsertPoint(onFull);
  e.call(full, ctaid, firstThread, e.allLanes());
  e.b.CreateBr(done);
  e.b.SetInsertPoint(onPart);
  e.call(partial, ctaid, firstThread, e.lanesBelow(laneCount));
  e.b.CreateBr(done);
  e.b.SetInsertPoint(done);
}

} // namespace

llvm::FunctionType *wideSignature(const llvm::Function &f, unsigned lanes, bool isKernel) {
  llvm::LLVMContext &c = f.getContext();
  llvm::Type *ptr = llvm::PointerType::get(c, 0), *i32 = llvm::Type::getInt32Ty(c),
             *i1 = llvm::Type::getInt1Ty(c);
  llvm::SmallVector<llvm::Type *> types{ptr, ptr, ptr, i32, i32, i32, i32};
  types.push_back(lanes == 1 ? i1 : llvm::FixedVectorType::get(i1, lanes));
  if (!isKernel)
    for (const llvm::Argument &a : f.args())
      types.push_back(ValueMap::widenType(a.getType(), lanes));
  return llvm::FunctionType::get(ValueMap::widenType(f.getReturnType(), lanes), types, false);
}

void buildGangEntry(ModuleContext &context, llvm::Function *full, llvm::Function *partial) {
  llvm::LLVMContext &c = context.module.getContext();
  llvm::Type *ptr = llvm::PointerType::get(c, 0);
  llvm::Function *f = makeEntry(context, "gang", llvm::Type::getVoidTy(c), {ptr, ptr, ptr}, *full);
  Entry e{llvm::IRBuilder<>(llvm::BasicBlock::Create(c, "", f)), context, f->getArg(0),
          f->getArg(1), f->getArg(2)};
  setLine(e.b, *f);
  Value *ctaid[3];
  for (unsigned a = 0; a < 3; ++a)
    ctaid[a] = e.read(e.cta, offsetof(abi::Cta, ctaid) + 4 * a);
  Value *first = e.read(e.gang, offsetof(abi::Gang, firstThread)),
        *count = e.read(e.gang, offsetof(abi::Gang, laneCount));
  dispatch(e, full, partial, ctaid, first, count);
  e.b.CreateRetVoid();
}

/// One coroutine for each body; a dispatcher where there are two.
void buildGangStartEntry(ModuleContext &context, llvm::Function *full, llvm::Function *partial) {
  llvm::LLVMContext &c = context.module.getContext();
  llvm::Type *ptr = llvm::PointerType::get(c, 0);
  auto coroutine = [&](llvm::Function *body, bool isPartial, llvm::StringRef name,
                       llvm::GlobalValue::LinkageTypes linkage) {
    llvm::Function *f = makeEntry(context, name, ptr, {ptr, ptr, ptr}, *body, linkage);
    buildCoroutine(context, *f, [&](llvm::IRBuilder<> &b) {
      Entry e{llvm::IRBuilder<>(b.GetInsertBlock()), context, f->getArg(0), f->getArg(1),
              f->getArg(2)};
      setLine(e.b, *f);
      Value *ctaid[3];
      for (unsigned a = 0; a < 3; ++a)
        ctaid[a] = e.read(e.cta, offsetof(abi::Cta, ctaid) + 4 * a);
      Value *first = e.read(e.gang, offsetof(abi::Gang, firstThread));
      Value *mask =
          isPartial ? e.lanesBelow(e.read(e.gang, offsetof(abi::Gang, laneCount))) : e.allLanes();
      llvm::CallInst *call = e.call(body, ctaid, first, mask);
      b.SetInsertPoint(e.b.GetInsertBlock());
      return call;
    });
    return f;
  };
  // gang_start: makes the frame and runs the gang to its first suspension.
  llvm::Function *f = makeEntry(context, "gang_start", ptr, {ptr, ptr, ptr}, *full);
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(c, name, f); };
  Entry e{llvm::IRBuilder<>(block("")), context, f->getArg(0), f->getArg(1), f->getArg(2)};
  setLine(e.b, *f);
  auto startAndReturn = [&](llvm::Function *start) {
    Value *frame = e.b.CreateCall(start, {e.launch, e.cta, e.gang});
    e.b.CreateIntrinsic(llvm::Intrinsic::coro_resume, {}, {frame});
    e.b.CreateRet(frame);
  };
  if (!partial || partial == full) {
    startAndReturn(
        coroutine(full, partial != nullptr, "start", llvm::GlobalValue::InternalLinkage));
    return;
  }
  llvm::Function *onFull = coroutine(full, false, "start.full", llvm::GlobalValue::InternalLinkage);
  llvm::Function *onPart =
      coroutine(partial, true, "start.part", llvm::GlobalValue::InternalLinkage);
  llvm::BasicBlock *toFull = block("full"), *toPart = block("part");
  Value *count = e.read(e.gang, offsetof(abi::Gang, laneCount));
  e.b.CreateCondBr(e.b.CreateICmpEQ(count, e.b.getInt32(context.lanes)), toFull, toPart);
  e.b.SetInsertPoint(toFull);
  startAndReturn(onFull);
  e.b.SetInsertPoint(toPart);
  startAndReturn(onPart);
}

CtaLoop openCtaLoop(Entry &e, llvm::Function &f) {
  llvm::LLVMContext &c = f.getContext();
  llvm::Type *i64 = llvm::Type::getInt64Ty(c), *i32 = llvm::Type::getInt32Ty(c);
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(c, name, &f); };
  llvm::BasicBlock *entry = e.b.GetInsertBlock(), *ctas = block("cta"), *next = block("cta.next"),
                   *done = block("done");
  Value *first = f.getArg(3), *end = f.getArg(4);
  Value *nx = e.gridExtent(0), *ny = e.gridExtent(1);
  Value *nx64 = e.b.CreateZExt(nx, i64), *ny64 = e.b.CreateZExt(ny, i64);
  Value *row = e.b.CreateUDiv(first, nx64);
  Value *x0 = e.b.CreateTrunc(e.b.CreateURem(first, nx64), i32),
        *y0 = e.b.CreateTrunc(e.b.CreateURem(row, ny64), i32);
  Value *z0 = e.b.CreateTrunc(e.b.CreateUDiv(row, ny64), i32);
  Value *threads = e.threadCount();
  e.b.CreateCondBr(e.b.CreateICmpULT(first, end), ctas, done);

  e.b.SetInsertPoint(ctas);
  llvm::PHINode *n = e.b.CreatePHI(i64, 2), *x = e.b.CreatePHI(i32, 2), *y = e.b.CreatePHI(i32, 2),
                *z = e.b.CreatePHI(i32, 2);
  CtaLoop loop{{}, threads, next};
  Value *const counted[] = {x, y, z};
  for (unsigned n = 0; n < 3; ++n)
    e.writeCtaid(loop.ctaid, n, counted[n]);

  e.b.SetInsertPoint(next);
  Value *one = e.b.getInt32(1), *zero = e.b.getInt32(0);
  Value *xUp = e.b.CreateAdd(x, one), *isRowEnd = e.b.CreateICmpEQ(xUp, nx);
  Value *yUp = e.b.CreateAdd(y, e.b.CreateSelect(isRowEnd, one, zero)),
        *isPlaneEnd = e.b.CreateICmpEQ(yUp, ny);
  Value *zUp = e.b.CreateAdd(z, e.b.CreateSelect(isPlaneEnd, one, zero));
  Value *nUp = e.b.CreateAdd(n, llvm::ConstantInt::get(i64, 1));
  Value *xNext = e.b.CreateSelect(isRowEnd, zero, xUp),
        *yNext = e.b.CreateSelect(isPlaneEnd, zero, yUp);
  e.b.CreateCondBr(e.b.CreateICmpULT(nUp, end), ctas, done);
  auto count = [&](llvm::PHINode *phi, Value *from, Value *to) {
    phi->addIncoming(from, entry);
    phi->addIncoming(to, next);
  };
  count(n, first, nUp);
  count(x, x0, xNext);
  count(y, y0, yNext);
  count(z, z0, zUp);
  e.b.SetInsertPoint(done);
  e.b.CreateRetVoid();
  e.b.SetInsertPoint(ctas);
  return loop;
}

llvm::Function *makeCtaRange(ModuleContext &context, const llvm::Function &body) {
  llvm::LLVMContext &c = context.module.getContext();
  llvm::Type *ptr = llvm::PointerType::get(c, 0), *i64 = llvm::Type::getInt64Ty(c);
  llvm::Function *f =
      makeEntry(context, "cta_range", llvm::Type::getVoidTy(c), {ptr, ptr, ptr, i64, i64}, body);
  if (context.hasPrivateShared)
    f->addFnAttr(kPrivateShared);
  return f;
}

namespace {

/// From where `e` is: for each gang of the CTA: body. Goes on to the next CTA. `areFull`: all lanes
/// of each gang exist.
void loopOverGangs(Entry &e, const CtaLoop &loop, llvm::Function *full, llvm::Function *partial,
                   unsigned gangsPerBody, bool areFull) {
  llvm::BasicBlock *before = e.b.GetInsertBlock(),
                   *gangs =
                       llvm::BasicBlock::Create(e.b.getContext(), "gangs", before->getParent());
  Value *w = e.b.getInt32(e.context.gangThreads * gangsPerBody), *count = w;
  if (areFull)
    e.writeLanes(count);
  e.b.CreateBr(gangs);
  e.b.SetInsertPoint(gangs);
  llvm::PHINode *thread = e.b.CreatePHI(e.b.getInt32Ty(), 2, "first.thread");
  if (!areFull) {
    Value *left = e.b.CreateSub(loop.threads, thread);
    count = e.b.CreateSelect(e.b.CreateICmpULT(left, w), left, w);
  }
  e.writeFirstThread(thread);
  if (!areFull)
    e.writeLanes(count);
  dispatch(e, full, partial, loop.ctaid, thread, count);
  Value *nextThread = e.b.CreateAdd(thread, w);
  llvm::BasicBlock *gangsEnd = e.b.GetInsertBlock();
  e.b.CreateCondBr(e.b.CreateICmpULT(nextThread, loop.threads), gangs, loop.next);
  thread->addIncoming(e.b.getInt32(0), before);
  thread->addIncoming(nextThread, gangsEnd);
}

} // namespace

/// for cta in [first, end): for each gang: body. The coordinates of a CTA are counted up, not
/// divided out.
void buildCtaRangeEntry(ModuleContext &context, llvm::Function *full, llvm::Function *partial,
                        unsigned gangsPerBody, const CtaVersion *version) {
  llvm::Function *f = makeCtaRange(context, *full);
  llvm::LLVMContext &c = f->getContext();
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(c, name, f); };
  Entry e{llvm::IRBuilder<>(block("entry")), context, f->getArg(0), f->getArg(1), f->getArg(2)};
  setLine(e.b, *f);
  CtaLoop loop = openCtaLoop(e, *f);
  if (version) {
    llvm::BasicBlock *onVersion = block("cta.alike"), *onGangs = block("cta.gangs");
    Value *isRight = e.call(version->isRight, loop.ctaid, e.b.getInt32(0), e.allLanes());
    e.b.CreateCondBr(isRight, onVersion, onGangs);
    e.b.SetInsertPoint(onVersion);
    loopOverGangs(e, loop, version->body, nullptr, 1, /*areFull=*/true);
    e.b.SetInsertPoint(onGangs);
  }
  loopOverGangs(e, loop, full, partial, gangsPerBody, /*areFull=*/false);
}

void chooseByGrid(ModuleContext &context, llvm::Function &small, llvm::Function &large,
                  uint64_t threads) {
  llvm::Function *f = makeCtaRange(context, large);
  llvm::LLVMContext &c = f->getContext();
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(c, name, f); };
  Entry e{llvm::IRBuilder<>(block("entry")), context, f->getArg(0), f->getArg(1), f->getArg(2)};
  setLine(e.b, *f);
  llvm::BasicBlock *onSmall = block("small"), *onLarge = block("large");
  llvm::Type *i64 = e.b.getInt64Ty();
  Value *count = e.b.CreateZExt(e.threadCount(), i64);
  for (unsigned a = 0; a < 3; ++a)
    count = e.b.CreateMul(count, e.b.CreateZExt(e.gridExtent(a), i64));
  e.b.CreateCondBr(e.b.CreateICmpULT(count, e.b.getInt64(threads)), onSmall, onLarge);
  for (auto [at, callee] : {std::pair{onSmall, &small}, std::pair{onLarge, &large}}) {
    e.b.SetInsertPoint(at);
    llvm::SmallVector<Value *> arguments;
    for (llvm::Argument &a : f->args())
      arguments.push_back(&a);
    e.b.CreateCall(callee, arguments)->addFnAttr(llvm::Attribute::NoInline);
    e.b.CreateRetVoid();
  }
}

} // namespace ptxrun::simt
