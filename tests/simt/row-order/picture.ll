; lanes=16 block=16,16,1 cpu=avx2
; A picture in blocks of 16 x 16: row after row of neighbouring blocks.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %y = call i32 @ptx.sreg.tid.y()
  %bx = call i32 @ptx.sreg.ctaid.x()
  %by = call i32 @ptx.sreg.ctaid.y()
  %x0 = shl i32 %bx, 4
  %y0 = shl i32 %by, 4
  %column = add i32 %x0, %x
  %line = add i32 %y0, %y
  %c8 = zext i32 %column to i64
  %l8 = zext i32 %line to i64
  %lo = shl i64 %l8, 12
  %co = shl i64 %c8, 2
  %base = load i64, ptr %params
  %a = add i64 %base, %lo
  %ac = add i64 %a, %co
  %p = inttoptr i64 %ac to ptr
  %v = load i32, ptr %p, align 4
  %w = xor i32 %v, -1
  store i32 %w, ptr %p, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.tid.y() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
declare i32 @ptx.sreg.ctaid.y() memory(none)
