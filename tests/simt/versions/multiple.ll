; lanes=32 block=256,1,1 cpu=avx2 with=same-values
; i / 64 and i % 64 as compilers write them for signed numbers: lanes that agree on the quotient agree on the multiple of 64 that is
; taken off for the remainder, and lie in a row.
define void @k(ptr %params) {
  %at = call i32 @ptx.sreg.ctaid.x()
  %t = call i32 @ptx.sreg.tid.x()
  %before = mul i32 %at, 256
  %i = add i32 %before, %t
  %all = ashr i32 %i, 31
  %bias = lshr i32 %all, 26
  %biased = add i32 %i, %bias
  %q = ashr i32 %biased, 6
  %rows = load i64, ptr %params
  %to = getelementptr i8, ptr %params, i64 8
  %base = load i64, ptr %to
  %of = sext i32 %q to i64
  %o = shl i64 %of, 2
  %a = add i64 %rows, %o
  %p = inttoptr i64 %a to ptr
  %row = load i32, ptr %p, align 4
  %multiple = and i32 %biased, -64
  %k = sub i32 %i, %multiple
  %begin = shl i32 %row, 6
  %place = add i32 %begin, %k
  %e = sext i32 %place to i64
  %f = shl i64 %e, 2
  %b = add i64 %base, %f
  %r = inttoptr i64 %b to ptr
  %v = load float, ptr %r, align 4
  %w = fadd float %v, 1.0
  store float %w, ptr %r, align 4
  ret void
}

declare i32 @ptx.sreg.ctaid.x() memory(none)
declare i32 @ptx.sreg.tid.x() memory(none)
