; lanes=8 block=64,1,1 cpu=avx2
; %i, %j and %u are extensions of 32 bits: of %n, of %n + 3 less what all lanes have, and of twice %n without its sign. %odd has bits below.
define void @k(ptr %params) {
entry:
  %t = call i32 @ptx.sreg.tid.x()
  %lane = zext i32 %t to i64
  %all = load i64, ptr %params
  %n = add i64 %lane, %all
  %up = shl i64 %n, 32
  %i = ashr exact i64 %up, 32
  %three = add i64 %up, 12884901888
  %other = shl i64 %all, 32
  %less = sub i64 %three, %other
  %j = ashr exact i64 %less, 32
  %twice = shl i64 %n, 33
  %u = lshr exact i64 %twice, 32
  %off = or i64 %up, 1
  %odd = ashr i64 %off, 32
  %a = add i64 %i, %j
  %b = add i64 %a, %u
  %c = add i64 %b, %odd
  %base = load i64, ptr %params
  %at = add i64 %base, %c
  %p = inttoptr i64 %at to ptr
  store i32 %t, ptr %p
  ret void
}
declare i32 @ptx.sreg.tid.x()
