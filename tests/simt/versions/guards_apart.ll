; lanes=8 block=64,1,1 cpu=avx2 with=joint-guards
; The same where the edges are further apart than a gang is long: gangs that miss one of them have versions of the other.
define void @k(ptr %params) {
  %in = load i64, ptr %params
  %p1 = getelementptr i8, ptr %params, i64 8
  %n = load i32, ptr %p1
  %t = call i32 @ptx.sreg.tid.x()
  %b = call i32 @ptx.sreg.ctaid.x()
  %first = mul i32 %b, 512
  %four = shl i32 %t, 2
  %i = add i32 %first, %four
  %j = add i32 %i, 256
  %c = icmp slt i32 %i, %n
  %d = icmp slt i32 %j, %n
  %e = sext i32 %i to i64
  %o = shl i64 %e, 2
  %a = add i64 %in, %o
  %a2 = add i64 %a, 1024
  br i1 %c, label %load, label %loaded
load:
  %p = inttoptr i64 %a to ptr
  %v = load <4 x float>, ptr %p, align 16
  br label %loaded
loaded:
  %x = phi <4 x float> [ zeroinitializer, %0 ], [ %v, %load ]
  br i1 %d, label %load2, label %loaded2
load2:
  %p2 = inttoptr i64 %a2 to ptr
  %v2 = load <4 x float>, ptr %p2, align 16
  br label %loaded2
loaded2:
  %y = phi <4 x float> [ zeroinitializer, %loaded ], [ %v2, %load2 ]
  %sum = fadd <4 x float> %x, %y
  br i1 %c, label %store, label %stored
store:
  %q = inttoptr i64 %a to ptr
  store <4 x float> %sum, ptr %q, align 16
  br label %stored
stored:
  br i1 %c, label %end, label %other
other:
  %q2 = inttoptr i64 %a2 to ptr
  store <4 x float> %sum, ptr %q2, align 16
  br label %end
end:
  ret void
}
declare i32 @ptx.sreg.tid.x()
declare i32 @ptx.sreg.ctaid.x()
