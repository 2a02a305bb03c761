; lanes=32 block=256,1,1 cpu=avx2 with=jam with=versions
; A loop that strides by the threads of the grid: small grids in lockstep, large ones gang after gang.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %b = call i32 @ptx.sreg.ctaid.x()
  %m = mul i32 %b, 256
  %i = add i32 %m, %x
  %e = zext i32 %i to i64
  %o = shl i64 %e, 2
  %base = load i64, ptr %params
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %blocks = call i32 @ptx.sreg.nctaid.x()
  %threads = mul i32 %blocks, 256
  %step = zext i32 %threads to i64
  %bytes = shl i64 %step, 2
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %k1, %loop ]
  %s = phi i32 [ 0, %0 ], [ %s1, %loop ]
  %at = phi i64 [ %a, %0 ], [ %at1, %loop ]
  %q = inttoptr i64 %at to ptr
  %v = load i32, ptr %q, align 4
  %s1 = add i32 %s, %v
  %at1 = add i64 %at, %bytes
  %k1 = add i64 %k, 1
  %z = icmp eq i64 %k1, 64
  br i1 %z, label %end, label %loop
end:
  store i32 %s1, ptr %p, align 4
  ret void
}

declare i32 @ptx.sreg.nctaid.x() memory(none)
declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
