; lanes=32 block=256,1,1 cpu=avx512
; The element above that of thread %i, in rows of %w: (%i / %w - 1) * %w + %i % %w. The address is that of %i - %w.
define void @k(ptr %params) {
entry:
  %i = call i32 @ptx.sreg.tid.x()
  %base = load i64, ptr %params, !invariant.load !0
  %pw = getelementptr i8, ptr %params, i64 8
  %w = load i32, ptr %pw, !invariant.load !0
  %q = udiv i32 %i, %w
  %start = mul i32 %q, %w
  %r = sub i32 %i, %start
  %above = add i32 %q, -1
  %row = mul i32 %above, %w
  %place = add i32 %row, %r
  %e = sext i32 %place to i64
  %o = shl i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  store i32 %r, ptr %p, align 4
  ret void
}
declare i32 @ptx.sreg.tid.x() memory(none)
!0 = !{}
