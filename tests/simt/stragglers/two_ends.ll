; lanes=32 block=256,1,1 cpu=avx512
; A loop that lanes leave at different times and at two places: the last lanes run the rest of it as a function of one thread.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %e = zext i32 %x to i64
  %o = shl i64 %e, 2
  %base = load i64, ptr %params
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %n = load i32, ptr %p
  br label %loop
loop:
  %k = phi i32 [ 0, %0 ], [ %k1, %next ]
  %place = mul i32 %k, %n
  %pe = zext i32 %place to i64
  %po = shl i64 %pe, 2
  %pa = add i64 %base, %po
  %pp = inttoptr i64 %pa to ptr
  %entry = load i32, ptr %pp
  %isFound = icmp eq i32 %entry, %n
  br i1 %isFound, label %found, label %next
next:
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %entry, %n
  br i1 %more, label %loop, label %none
found:
  %root = phi i32 [ %k, %loop ]
  store i32 %root, ptr %p
  br label %end
none:
  store i32 -1, ptr %p
  br label %end
end:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
