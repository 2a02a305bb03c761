; lanes=8 block=64,1,1 cpu=avx2 with=joint-guards
; Elements that lie in a row under two guards: nothing is taken apart where ways meet, and no version has both.
define void @k(ptr %params) {
  %in = load i64, ptr %params
  %p1 = getelementptr i8, ptr %params, i64 8
  %n = load i32, ptr %p1
  %i = call i32 @ptx.sreg.tid.x()
  %j = add i32 %i, 64
  %c = icmp slt i32 %i, %n
  %d = icmp slt i32 %j, %n
  %e = zext i32 %i to i64
  %o = shl i64 %e, 2
  %a = add i64 %in, %o
  %a2 = add i64 %a, 256
  br i1 %c, label %load, label %loaded
load:
  %p = inttoptr i64 %a to ptr
  %v = load float, ptr %p
  br label %loaded
loaded:
  %x = phi float [ 0.0, %0 ], [ %v, %load ]
  br i1 %d, label %load2, label %loaded2
load2:
  %p2 = inttoptr i64 %a2 to ptr
  %v2 = load float, ptr %p2
  br label %loaded2
loaded2:
  %y = phi float [ 0.0, %loaded ], [ %v2, %load2 ]
  %sum = fadd float %x, %y
  %q = inttoptr i64 %a to ptr
  store float %sum, ptr %q
  ret void
}
declare i32 @ptx.sreg.tid.x()
