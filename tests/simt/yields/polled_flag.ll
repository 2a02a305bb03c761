; lanes=32 block=32,1,1 cpu=avx2
; A loop that waits for memory to change lets others run in each round.
define void @k(ptr %params) {
  %base = load i64, ptr %params
  %p = inttoptr i64 %base to ptr
  br label %again
again:
  %v = load volatile i32, ptr %p
  %isSet = icmp ne i32 %v, 0
  br i1 %isSet, label %end, label %again
end:
  ret void
}
