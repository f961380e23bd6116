#include "textflag.h"

// func vfork(flags, stack uintptr, j *job) (pid, errno uintptr)
//
// The child has a stack of its own, so that it leaves the parent's frames alone,
// and calls become with j.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-40
	MOVD	flags+0(FP), R0
	MOVD	stack+8(FP), R1
	MOVD	j+16(FP), R10 // the kernel keeps it
	MOVD	ZR, R2
	MOVD	ZR, R3
	MOVD	ZR, R4
	MOVD	$220, R8 // clone
	SVC
	CBZ	R0, child
	CMN	$4095, R0
	BCS	failed
	MOVD	R0, pid+24(FP)
	MOVD	ZR, errno+32(FP)
	RET

failed:
	NEG	R0, R0
	MOVD	ZR, pid+24(FP)
	MOVD	R0, errno+32(FP)
	RET

child:
	SUB	$32, RSP
	MOVD	R10, 8(RSP)
	BL	·become(SB)
	BRK
