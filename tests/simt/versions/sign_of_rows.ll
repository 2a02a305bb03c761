; lanes=32 block=32,4,1 with=same-values
; for (i = from; i < to; i += 64) { c = i + 2 * tid; ... in[c / 32 * 18 + c % 32 / 2] ... }: the sign is that of i, and lanes lie in two
; rows where there is none.
define void @k(ptr %params) {
entry:
  %x = call i32 @ptx.sreg.tid.x()
  %in = load i64, ptr %params
  %pfrom = getelementptr i8, ptr %params, i64 8
  %n0 = load i32, ptr %pfrom
  %from = and i32 %n0, -64
  %pto = getelementptr i8, ptr %params, i64 12
  %to = load i32, ptr %pto
  %t2 = shl i32 %x, 1
  br label %loop

loop:
  %i = phi i32 [ %from, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]
  %c = or disjoint i32 %i, %t2
  %sign = ashr i32 %i, 31
  %bias = lshr i32 %sign, 27
  %rounded = add i32 %c, %bias
  %block = ashr i32 %rounded, 5
  %whole = and i32 %rounded, -32
  %rest = sub i32 %c, %whole
  %half = ashr i32 %rest, 1
  %row = mul i32 %block, 18
  %at = add i32 %row, %half
  %e = sext i32 %at to i64
  %o = shl i64 %e, 2
  %a = add i64 %in, %o
  %p = inttoptr i64 %a to ptr
  %v = load float, ptr %p, align 4
  %more = fadd float %sum, %v
  %next = add i32 %i, 64
  %goes = icmp slt i32 %next, %to
  br i1 %goes, label %loop, label %end

end:
  %xe = zext i32 %x to i64
  %xo = shl i64 %xe, 2
  %q = add i64 %in, %xo
  %qp = inttoptr i64 %q to ptr
  store float %more, ptr %qp, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x()
