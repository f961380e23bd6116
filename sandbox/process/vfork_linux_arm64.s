#include "textflag.h"

// func vfork(nr, a0, a1 uintptr, j *job) (pid, errno uintptr)
//
// The child has a stack of its own, so that it leaves the parent's frames alone,
// and calls become with j.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-48
	MOVD	a0+8(FP), R0
	MOVD	a1+16(FP), R1
	MOVD	j+24(FP), R10 // the kernel keeps it
	MOVD	ZR, R2
	MOVD	ZR, R3
	MOVD	ZR, R4
	MOVD	nr+0(FP), R8
	SVC
	CBZ	R0, child
	CMN	$4095, R0
	BCS	failed
	MOVD	R0, pid+32(FP)
	MOVD	ZR, errno+40(FP)
	RET

failed:
	NEG	R0, R0
	MOVD	ZR, pid+32(FP)
	MOVD	R0, errno+40(FP)
	RET

child:
	SUB	$32, RSP
	MOVD	R10, 8(RSP)
	BL	·become(SB)
	BRK
