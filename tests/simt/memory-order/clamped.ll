; lanes=8 block=64,1,1 cpu=avx2
; Four floats of each lane are clamped and added to four others: computed in the order of memory.
define void @k(ptr %params) {
  %t = call i32 @ptx.sreg.tid.x()
  %base = load i64, ptr %params
  %e = zext i32 %t to i64
  %o = shl i64 %e, 4
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %v = load <4 x float>, ptr %p, align 16
  %b = add i64 %a, 4096
  %q = inttoptr i64 %b to ptr
  %w = load <4 x float>, ptr %q, align 16
  %x = extractelement <4 x float> %v, i64 0
  %y = extractelement <4 x float> %v, i64 1
  %z = extractelement <4 x float> %v, i64 2
  %u = extractelement <4 x float> %v, i64 3
  %cx = call float @llvm.maxnum.f32(float %x, float 0.0)
  %cy = call float @llvm.maxnum.f32(float %y, float 0.0)
  %cz = call float @llvm.maxnum.f32(float %z, float 1.0)
  %cu = call float @llvm.maxnum.f32(float %u, float 1.0)
  %x2 = extractelement <4 x float> %w, i64 0
  %y2 = extractelement <4 x float> %w, i64 1
  %z2 = extractelement <4 x float> %w, i64 2
  %u2 = extractelement <4 x float> %w, i64 3
  %sx = fadd float %cx, %x2
  %sy = fadd float %cy, %y2
  %sz = fadd float %cz, %z2
  %su = fadd float %cu, %u2
  %r0 = insertelement <4 x float> poison, float %sx, i64 0
  %r1 = insertelement <4 x float> %r0, float %sy, i64 1
  %r2 = insertelement <4 x float> %r1, float %sz, i64 2
  %r3 = insertelement <4 x float> %r2, float %su, i64 3
  %c = add i64 %a, 8192
  %r = inttoptr i64 %c to ptr
  store <4 x float> %r3, ptr %r, align 16
  ret void
}
declare i32 @ptx.sreg.tid.x()
declare float @llvm.maxnum.f32(float, float)
