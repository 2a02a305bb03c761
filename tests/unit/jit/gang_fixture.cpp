#include "tests/unit/jit/gang_fixture.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>

namespace ptxrun::test {

simt::GangModule parseGang(std::string_view ir) {
  simt::GangModule out;
  out.context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  out.module =
      llvm::parseAssemblyString(llvm::StringRef(ir.data(), ir.size()), diagnostic, *out.context);
  if (!out.module) {
    diagnostic.print("parseGang", llvm::errs());
    std::abort();
  }
  if (out.module->getFunction("gang_start"))
    out.entry = simt::EntryPoint::gangStart;
  out.needs.lanes = 8;
  out.reason = "written by hand";
  return out;
}

// Launch::params lies at byte 88 (checked by the test with offsetof), Gang::firstThread at 8.
const std::string_view kSaxpyGang = R"(
define void @gang(ptr %launch, ptr %cta, ptr %gang) !dbg !4 {
  %params.at = getelementptr i8, ptr %launch, i64 PARAMS
  %params = load ptr, ptr %params.at, align 8
  %x = load ptr, ptr %params, align 8
  %y.at = getelementptr i8, ptr %params, i64 8
  %y = load ptr, ptr %y.at, align 8
  %a.at = getelementptr i8, ptr %params, i64 16
  %a = load float, ptr %a.at, align 4
  %first.at = getelementptr i8, ptr %gang, i64 FIRST
  %first = load i32, ptr %first.at, align 4
  %first64 = zext i32 %first to i64
  %xi = getelementptr float, ptr %x, i64 %first64
  %yi = getelementptr float, ptr %y, i64 %first64
  %xv = load <8 x float>, ptr %xi, align 4, !dbg !10
  %yv = load <8 x float>, ptr %yi, align 4, !dbg !10
  %a0 = insertelement <8 x float> poison, float %a, i64 0
  %av = shufflevector <8 x float> %a0, <8 x float> poison, <8 x i32> zeroinitializer
  %m = fmul <8 x float> %av, %xv, !dbg !11
  %s = fadd <8 x float> %m, %yv, !dbg !12
  store <8 x float> %s, ptr %yi, align 4, !dbg !13
  ret void, !dbg !13
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: "test", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "saxpy.ptx", directory: "")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 2, !"Dwarf Version", i32 4}
!4 = distinct !DISubprogram(name: "saxpy", file: !1, line: 9, type: !5, scopeLine: 9, spFlags: DISPFlagDefinition, unit: !0)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!10 = !DILocation(line: 10, scope: !4)
!11 = !DILocation(line: 11, scope: !4)
!12 = !DILocation(line: 12, scope: !4)
!13 = !DILocation(line: 13, scope: !4)
)";

} // namespace ptxrun::test
