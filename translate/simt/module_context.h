// What the wide functions of one module share, and the parameters they begin with.
#pragma once
#include <llvm/IR/Module.h>

#include <map>
#include <string>
#include <vector>

#include "translate/simt/gang_module.h"

namespace ptxrun::simt {

/// What all functions of one gang module share.
struct ModuleContext {
  llvm::Module &module; ///< the module under construction: scalar functions in, wide functions out
  unsigned lanes;
  CodeOptions options;
  Target target; ///< of the options' level and model
  PassRun &passes;
  unsigned gangThreads = lanes; ///< threads of a full gang: lanes, or fewer where gangs are rows
  /// x, or the axis that what is called %tid.x and block[0] here really is (leading_axis.h).
  unsigned leadingAxis = 0;
  /// The grid's axis that CTAs are counted along first, second, third: as threads are.
  unsigned gridAxis(unsigned n) const { return n == 0 ? leadingAxis : n == leadingAxis ? 0 : n; }
  bool tracksExits = false; ///< barriers, and meetings of a warp's gangs, count exited lanes
  bool hasBarriers = false;
  bool hasPlainUpdates =
      false; ///< atomics of memory that one thread works on: a load, then a store
  bool hasDeviceUpdates = false; ///< atomics that threads of other CTAs and launches may meet
  /// Nothing but the gangs of a CTA, one after the other, sees its `.shared` memory.
  bool hasPrivateShared = false;
  /// Lanes access places as far from each other as a number known only at run time says: lines of
  /// memory that later rows of the block may share.
  bool stridesAcrossLanes = false;
  unsigned guessedRegisters = 0; ///< accessed one by one, so far (widen_windows.cpp)
  /// Wide versions of device functions that were not inlined.
  std::map<const llvm::Function *, llvm::Function *> wide = {};
  /// Functions that lanes call one by one, for gangs of one lane.
  std::map<const llvm::Function *, llvm::Function *> alone = {};
  /// Activemasks, by their PTX lines and those of the calls they were inlined through, in the order
  /// in which gangs come to them.
  std::map<std::vector<unsigned>, unsigned> activeMaskSites = {};
  /// The first thing that could not be widened: widen() ends in it. Empty: none.
  std::string problem = {};
  void fail(const llvm::Twine &what) {
    if (problem.empty())
      problem = what.str();
  }
  /// abi::WrappedAccess records, by content.
  std::map<const llvm::Constant *, llvm::GlobalVariable *> wrappedAccesses = {};
};

/// Leading parameters of every wide function.
enum WideArgument : unsigned {
  kLaunch,
  kCta,
  kGang,
  kCtaX,
  kCtaY,
  kCtaZ,
  kFirstThread,
  kMask,
  kFirstOwn
};

} // namespace ptxrun::simt
