; lanes=8 block=4,4,1 joined=8,2,1 cpu=avx2
; One index along each axis, along y in 64 bits: the same sums of the joined block.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %y = call i32 @ptx.sreg.tid.y()
  %bx = call i32 @ptx.sreg.ctaid.x()
  %by = call i32 @ptx.sreg.ctaid.y()
  %nx = call i32 @ptx.sreg.ntid.x()
  %x0 = mul i32 %bx, %nx
  %column = add i32 %x0, %x
  %by8 = zext i32 %by to i64
  %y8 = zext i32 %y to i64
  %y0 = mul i64 %by8, 4
  %line = add i64 %y0, %y8
  %c8 = zext i32 %column to i64
  %lo = shl i64 %line, 12
  %base = load i64, ptr %params
  %a = add i64 %base, %lo
  %ac = add i64 %a, %c8
  %p = inttoptr i64 %ac to ptr
  store i8 1, ptr %p
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.tid.y() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
declare i32 @ptx.sreg.ctaid.y() memory(none)
declare i32 @ptx.sreg.ntid.x() memory(none)
