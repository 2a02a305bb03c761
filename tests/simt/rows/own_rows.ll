; lanes=16 block=256,1,1 cpu=avx2
; Each thread sums a row of its own: as many rounds at once as a register holds.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %base = load i64, ptr %params
  %second = getelementptr i8, ptr %params, i64 8
  %length = load i64, ptr %second
  %x8 = zext i32 %x to i64
  %row = mul i64 %x8, %length
  %start = add i64 %base, %row
  %to = shl i64 %x8, 2
  %place = add i64 %to, %length
  %q = inttoptr i64 %place to ptr
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %k1, %loop ]
  %s = phi i32 [ 0, %0 ], [ %s1, %loop ]
  %at = phi i64 [ %start, %0 ], [ %at1, %loop ]
  %p = inttoptr i64 %at to ptr
  %v = load i32, ptr %p, align 4
  %s1 = add i32 %s, %v
  %at1 = add i64 %at, 4
  %k1 = add i64 %k, 1
  %z = icmp eq i64 %k1, 64
  br i1 %z, label %end, label %loop
end:
  store i32 %s1, ptr %q, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
