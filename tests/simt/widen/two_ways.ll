; lanes=8 block=256,1,1 cpu=avx2
; Lanes part, each way runs under its mask, and meet again.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %b = call i32 @ptx.sreg.ctaid.x()
  %m = mul i32 %b, 256
  %i = add i32 %m, %x
  %e = zext i32 %i to i64
  %o = shl i64 %e, 2
  %base = load i64, ptr %params
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %v = load float, ptr %p, align 4
  %c = fcmp olt float %v, 0.0
  br i1 %c, label %below, label %above
below:
  %q = fdiv float 1.0, %v
  store float %q, ptr %p, align 4
  br label %end
above:
  %r = call float @llvm.sqrt.f32(float %v)
  store float %r, ptr %p, align 4
  br label %end
end:
  ret void
}

declare float @llvm.sqrt.f32(float)
declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
