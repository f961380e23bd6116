#include "textflag.h"

// func vfork(nr, a0, a1 uintptr, j *job) (pid, errno uintptr)
//
// The child has a stack of its own, so that it leaves the parent's frames alone,
// and calls become with j.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-48
	MOVQ	a0+8(FP), DI
	MOVQ	a1+16(FP), SI
	MOVQ	j+24(FP), BX // the kernel keeps it
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	MOVQ	nr+0(FP), AX
	SYSCALL
	TESTQ	AX, AX
	JEQ	child
	CMPQ	AX, $0xfffffffffffff001
	JCC	failed
	MOVQ	AX, pid+32(FP)
	MOVQ	$0, errno+40(FP)
	RET

failed:
	NEGQ	AX
	MOVQ	$0, pid+32(FP)
	MOVQ	AX, errno+40(FP)
	RET

child:
	XORL	BP, BP
	SUBQ	$16, SP
	MOVQ	BX, 0(SP)
	CALL	·become(SB)
	INT	$3
