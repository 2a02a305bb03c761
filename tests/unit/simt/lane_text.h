// Lane modules from IR text.
#pragma once
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/SourceMgr.h>

#include "translate/lower/lane_module.h"
#include "translate/simt/gang_module.h"
#include "translate/simt/prepare.h"

namespace ptxrun::simt {

/// The body of `define void @k(ptr %params)` as a lane module; the words used in it are declared
/// here.
inline lower::LaneModule laneModule(const std::string &body) {
  lower::LaneModule lane;
  lane.context = std::make_unique<llvm::LLVMContext>();
  std::string text =
      std::string("target datalayout = \"") + lower::kLaneDataLayout + "\"\n" +
      "define void @k(ptr %params) {\n" + body + "\n}\n" +
      "declare i32 @ptx.sreg.tid.x() memory(none)\ndeclare i32 @ptx.sreg.tid.y() memory(none)\n"
      "declare i32 @ptx.sreg.ctaid.x() memory(none)\ndeclare i32 @ptx.sreg.ntid.x() memory(none)\n"
      "declare void @ptx.bar.sync(i32, i32) convergent\n"
      "declare double @llvm.fma.f64(double, double, double)\n"
      "declare i32 @llvm.smax.i32(i32, i32)\ndeclare i32 @llvm.fptosi.sat.i32.f32(float)\n"
      "declare i1 @ptx.vote.sync.all(i1, i32) convergent\n"
      "declare i32 @ptx.vote.sync.ballot(i1, i32) convergent\n"
      "declare {i32, i1} @ptx.shfl.sync.idx(i32, i32, i32, i32) convergent\n";
  llvm::SMDiagnostic error;
  lane.module = llvm::parseAssemblyString(text, error, *lane.context);
  if (!lane.module) {
    ADD_FAILURE() << error.getMessage().str() << " in line " << error.getLineNo();
    return lane;
  }
  lane.kernel = lane.module->getFunction("k");
  return lane;
}

/// What the stage makes of the kernel with this body; a failed test where it cannot.
inline GangModule widened(const std::string &body, CodeOptions options) {
  lower::LaneModule lane = laneModule(body);
  llvm::Expected<GangModule> gang = widen(std::move(lane), options);
  if (!gang) {
    ADD_FAILURE() << llvm::toString(gang.takeError());
    return {};
  }
  return std::move(*gang);
}

inline const llvm::Instruction *named(const llvm::Function &f, llvm::StringRef name) {
  for (const llvm::Instruction &i : llvm::instructions(f))
    if (i.getName() == name)
      return &i;
  ADD_FAILURE() << "no value " << name.str();
  return nullptr;
}

} // namespace ptxrun::simt
