; lanes=32 block=64,1,1 cpu=avx2
; The greatest of numbers without their signs (|x| of all lanes, as quantisers take it): the first round tests %x itself for a NaN.
define void @k(ptr %params) {
  %t = call i32 @ptx.sreg.tid.x()
  %base = load i64, ptr %params
  %e = zext i32 %t to i64
  %o = shl i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %x = load float, ptr %p
  %v0 = call float @llvm.fabs.f32(float %x)
  %b0 = bitcast float %v0 to i32
  %s1 = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %b0, i32 16, i32 31, i32 -1)
  %yb1 = extractvalue { i32, i1 } %s1, 0
  %y1 = bitcast i32 %yb1 to float
  %g1 = fcmp ogt float %v0, %y1
  %m1 = select i1 %g1, float %v0, float %y1
  %mb1 = bitcast float %m1 to i32
  %l1 = fcmp olt float %v0, %y1
  %n1 = select i1 %l1, float %y1, float %v0
  %nb1 = bitcast float %n1 to i32
  %both1 = and i32 %mb1, %nb1
  %xn1 = fcmp uno float %x, 0.0
  %yn1 = fcmp uno float %y1, 0.0
  %one1 = select i1 %xn1, i32 2147483647, i32 %b0
  %rest1 = select i1 %xn1, i32 %yb1, i32 %both1
  %b1 = select i1 %yn1, i32 %one1, i32 %rest1
  %v1 = bitcast i32 %b1 to float
  %s2 = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %b1, i32 8, i32 31, i32 -1)
  %yb2 = extractvalue { i32, i1 } %s2, 0
  %y2 = bitcast i32 %yb2 to float
  %g2 = fcmp ogt float %v1, %y2
  %m2 = select i1 %g2, float %v1, float %y2
  %mb2 = bitcast float %m2 to i32
  %l2 = fcmp olt float %v1, %y2
  %n2 = select i1 %l2, float %y2, float %v1
  %nb2 = bitcast float %n2 to i32
  %both2 = and i32 %mb2, %nb2
  %xn2 = fcmp uno float %v1, 0.0
  %yn2 = fcmp uno float %y2, 0.0
  %one2 = select i1 %xn2, i32 2147483647, i32 %b1
  %rest2 = select i1 %xn2, i32 %yb2, i32 %both2
  %b2 = select i1 %yn2, i32 %one2, i32 %rest2
  %v2 = bitcast i32 %b2 to float
  %s3 = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %b2, i32 4, i32 31, i32 -1)
  %yb3 = extractvalue { i32, i1 } %s3, 0
  %y3 = bitcast i32 %yb3 to float
  %g3 = fcmp ogt float %v2, %y3
  %m3 = select i1 %g3, float %v2, float %y3
  %mb3 = bitcast float %m3 to i32
  %l3 = fcmp olt float %v2, %y3
  %n3 = select i1 %l3, float %y3, float %v2
  %nb3 = bitcast float %n3 to i32
  %both3 = and i32 %mb3, %nb3
  %xn3 = fcmp uno float %v2, 0.0
  %yn3 = fcmp uno float %y3, 0.0
  %one3 = select i1 %xn3, i32 2147483647, i32 %b2
  %rest3 = select i1 %xn3, i32 %yb3, i32 %both3
  %b3 = select i1 %yn3, i32 %one3, i32 %rest3
  %v3 = bitcast i32 %b3 to float
  %s4 = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %b3, i32 2, i32 31, i32 -1)
  %yb4 = extractvalue { i32, i1 } %s4, 0
  %y4 = bitcast i32 %yb4 to float
  %g4 = fcmp ogt float %v3, %y4
  %m4 = select i1 %g4, float %v3, float %y4
  %mb4 = bitcast float %m4 to i32
  %l4 = fcmp olt float %v3, %y4
  %n4 = select i1 %l4, float %y4, float %v3
  %nb4 = bitcast float %n4 to i32
  %both4 = and i32 %mb4, %nb4
  %xn4 = fcmp uno float %v3, 0.0
  %yn4 = fcmp uno float %y4, 0.0
  %one4 = select i1 %xn4, i32 2147483647, i32 %b3
  %rest4 = select i1 %xn4, i32 %yb4, i32 %both4
  %b4 = select i1 %yn4, i32 %one4, i32 %rest4
  %v4 = bitcast i32 %b4 to float
  %s5 = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %b4, i32 1, i32 31, i32 -1)
  %yb5 = extractvalue { i32, i1 } %s5, 0
  %y5 = bitcast i32 %yb5 to float
  %g5 = fcmp ogt float %v4, %y5
  %m5 = select i1 %g5, float %v4, float %y5
  %mb5 = bitcast float %m5 to i32
  %l5 = fcmp olt float %v4, %y5
  %n5 = select i1 %l5, float %y5, float %v4
  %nb5 = bitcast float %n5 to i32
  %both5 = and i32 %mb5, %nb5
  %xn5 = fcmp uno float %v4, 0.0
  %yn5 = fcmp uno float %y5, 0.0
  %one5 = select i1 %xn5, i32 2147483647, i32 %b4
  %rest5 = select i1 %xn5, i32 %yb5, i32 %both5
  %b5 = select i1 %yn5, i32 %one5, i32 %rest5
  %v5 = bitcast i32 %b5 to float
  store float %v5, ptr %p
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare float @llvm.fabs.f32(float)
declare { i32, i1 } @ptx.shfl.sync.bfly(i32, i32, i32, i32) convergent
