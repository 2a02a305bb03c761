; lanes=16 block=256,1,1 cpu=avx2
; Each thread sums what is positive of a row of its own, two elements a round: what the conditions part is read at once.
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
  %k = phi i64 [ 0, %0 ], [ %k1, %next ]
  %s = phi i32 [ 0, %0 ], [ %s4, %next ]
  %at = phi i64 [ %start, %0 ], [ %at1, %next ]
  %p = inttoptr i64 %at to ptr
  %v = load i32, ptr %p, align 4
  %c = icmp sgt i32 %v, 0
  br i1 %c, label %one, label %middle
one:
  %s1 = add i32 %s, %v
  br label %middle
middle:
  %s2 = phi i32 [ %s, %loop ], [ %s1, %one ]
  %atSecond = add i64 %at, 4
  %p2 = inttoptr i64 %atSecond to ptr
  %v2 = load i32, ptr %p2, align 4
  %c2 = icmp sgt i32 %v2, 0
  br i1 %c2, label %two, label %next
two:
  %s3 = add i32 %s2, %v2
  br label %next
next:
  %s4 = phi i32 [ %s2, %middle ], [ %s3, %two ]
  %at1 = add i64 %at, 8
  %k1 = add i64 %k, 1
  %z = icmp eq i64 %k1, 64
  br i1 %z, label %end, label %loop
end:
  store i32 %s4, ptr %q, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
