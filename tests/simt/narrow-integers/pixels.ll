; lanes=32 block=256,1,1 cpu=avx2
; A filter of bytes: sums and comparisons that stay in 16 bits are done in 16. Products that do not
; fit, and the few operations that a 32-bit result hangs on, stay as they are.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %b = call i32 @ptx.sreg.ctaid.x()
  %m = mul i32 %b, 256
  %i = add i32 %m, %x
  %e = zext i32 %i to i64
  %base = load i64, ptr %params
  %a = add i64 %base, %e
  %p = inttoptr i64 %a to ptr
  %left = load i8, ptr %p
  %p1 = getelementptr i8, ptr %p, i64 1
  %here = load i8, ptr %p1
  %p2 = getelementptr i8, ptr %p, i64 2
  %right = load i8, ptr %p2
  %l = zext i8 %left to i32
  %h = zext i8 %here to i32
  %r = zext i8 %right to i32
  %twice = shl i32 %h, 1
  %d1 = sub i32 %twice, %l
  %d = sub i32 %d1, %r
  %size = call i32 @llvm.abs.i32(i32 %d, i1 true)
  %most = call i32 @llvm.smin.i32(i32 %size, i32 255)
  %byte = trunc i32 %most to i8
  store i8 %byte, ptr %p1
  %isEdge = icmp slt i32 %d, -20
  br i1 %isEdge, label %edge, label %end
edge:
  %square = mul i32 %d, %d
  %p3 = getelementptr i8, ptr %p, i64 65536
  store i32 %square, ptr %p3
  br label %end
end:
  %sum = add i32 %l, %r
  %p4 = getelementptr i8, ptr %p, i64 131072
  store i32 %sum, ptr %p4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
declare i32 @llvm.abs.i32(i32, i1)
declare i32 @llvm.smin.i32(i32, i32)
