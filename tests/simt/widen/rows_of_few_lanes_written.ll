; lanes=8 block=256,1,1 cpu=avx2
; Four lanes have a row, at a pitch that is known at run time: one store for each row.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %r = lshr i32 %x, 2
  %row = zext i32 %r to i64
  %c = and i32 %x, 3
  %column = zext i32 %c to i64
  %to = load i64, ptr %params
  %q = getelementptr i8, ptr %params, i64 8
  %pitch = load i64, ptr %q
  %start = mul i64 %row, %pitch
  %o = shl i64 %column, 3
  %a = add i64 %start, %o
  %b = add i64 %to, %a
  %p = inttoptr i64 %b to ptr
  %v0 = insertelement <2 x i32> poison, i32 %x, i32 0
  %v = insertelement <2 x i32> %v0, i32 %r, i32 1
  store <2 x i32> %v, ptr %p, align 8
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
