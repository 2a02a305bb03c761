; lanes=8 block=256,1,1 cpu=avx2
; The same with rows of a known length: where the next gang will read follows from it.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %base = load i64, ptr %params
  %second = getelementptr i8, ptr %params, i64 8
  %length = load i64, ptr %second
  %x8 = zext i32 %x to i64
  %row = mul i64 %x8, 400
  %start = add i64 %base, %row
  %to = shl i64 %x8, 2
  %place = add i64 %to, %length
  %q = inttoptr i64 %place to ptr
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %k1, %loop ]
  %s = phi i32 [ 0, %0 ], [ %s8, %loop ]
  %at = phi i64 [ %start, %0 ], [ %at1, %loop ]
  %o0 = add i64 %at, 0
  %p0 = inttoptr i64 %o0 to ptr
  %v0 = load i32, ptr %p0, align 4
  %s1 = add i32 %s, %v0
  %o1 = add i64 %at, 4
  %p1 = inttoptr i64 %o1 to ptr
  %v1 = load i32, ptr %p1, align 4
  %s2 = add i32 %s1, %v1
  %o2 = add i64 %at, 8
  %p2 = inttoptr i64 %o2 to ptr
  %v2 = load i32, ptr %p2, align 4
  %s3 = add i32 %s2, %v2
  %o3 = add i64 %at, 12
  %p3 = inttoptr i64 %o3 to ptr
  %v3 = load i32, ptr %p3, align 4
  %s4 = add i32 %s3, %v3
  %o4 = add i64 %at, 16
  %p4 = inttoptr i64 %o4 to ptr
  %v4 = load i32, ptr %p4, align 4
  %s5 = add i32 %s4, %v4
  %o5 = add i64 %at, 20
  %p5 = inttoptr i64 %o5 to ptr
  %v5 = load i32, ptr %p5, align 4
  %s6 = add i32 %s5, %v5
  %o6 = add i64 %at, 24
  %p6 = inttoptr i64 %o6 to ptr
  %v6 = load i32, ptr %p6, align 4
  %s7 = add i32 %s6, %v6
  %o7 = add i64 %at, 28
  %p7 = inttoptr i64 %o7 to ptr
  %v7 = load i32, ptr %p7, align 4
  %s8 = add i32 %s7, %v7
  %at1 = add i64 %at, 32
  %k1 = add i64 %k, 1
  %z = icmp eq i64 %k1, 64
  br i1 %z, label %end, label %loop
end:
  store i32 %s8, ptr %q, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
