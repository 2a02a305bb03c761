; lanes=32 block=256,1,1 cpu=avx2 with=same-values
; What lanes below %n do with %i / 32 and %i % 32, rounded to zero with the sign, gets no sign where no lane's %i is negative.
define void @k(ptr %params) {
entry:
  %t = call i32 @ptx.sreg.tid.x()
  %c = call i32 @ptx.sreg.ctaid.x()
  %first = mul i32 %c, 256
  %i = add i32 %first, %t
  %n = load i32, ptr %params, !invariant.load !0
  %is.below = icmp slt i32 %i, %n
  br i1 %is.below, label %below, label %end
below:
  %b = getelementptr i8, ptr %params, i64 8
  %base = load i64, ptr %b, !invariant.load !0
  %sign = ashr i32 %i, 31
  %up = lshr i32 %sign, 27
  %rounded = add i32 %i, %up
  %quotient = ashr i32 %rounded, 5
  %whole = and i32 %rounded, -32
  %remainder = sub i32 %i, %whole
  %row = mul i32 %quotient, 40
  %place = add i32 %row, %remainder
  %e = sext i32 %place to i64
  %o = shl i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  store i32 %place, ptr %p, align 4
  %e2 = sext i32 %i to i64
  %o2 = shl i64 %e2, 2
  %a2 = add i64 %base, %o2
  %out = add i64 %a2, 1048576
  %p2 = inttoptr i64 %out to ptr
  %v = load i32, ptr %p2, align 4
  %sum = add i32 %v, %quotient
  store i32 %sum, ptr %p2, align 4
  br label %end
end:
  ret void
}
declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
!0 = !{}
