; lanes=8 block=256,1,1 cpu=avx2
; Four lanes have a row, at a pitch that is known at run time: one load for each row.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %r = lshr i32 %x, 2
  %row = zext i32 %r to i64
  %c = and i32 %x, 3
  %column = zext i32 %c to i64
  %from = load i64, ptr %params
  %q = getelementptr i8, ptr %params, i64 8
  %to = load i64, ptr %q
  %q2 = getelementptr i8, ptr %params, i64 16
  %pitch = load i64, ptr %q2
  %start = mul i64 %row, %pitch
  %o = shl i64 %column, 4
  %a = add i64 %start, %o
  %b = add i64 %from, %a
  %p = inttoptr i64 %b to ptr
  %v = load <4 x i32>, ptr %p, align 16
  %e = zext i32 %x to i64
  %o2 = shl i64 %e, 4
  %d = add i64 %to, %o2
  %p2 = inttoptr i64 %d to ptr
  store <4 x i32> %v, ptr %p2, align 16
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
