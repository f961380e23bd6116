#include "textflag.h"

// func vfork(flags, stack uintptr, j *job) (pid, errno uintptr)
//
// The child has a stack of its own, so that it leaves the parent's frames alone,
// and calls become with j.
TEXT ·vfork(SB), NOSPLIT|NOFRAME, $0-40
	MOVQ	flags+0(FP), DI
	MOVQ	stack+8(FP), SI
	MOVQ	j+16(FP), BX // the kernel keeps it
	XORL	DX, DX
	XORL	R10, R10
	XORL	R8, R8
	MOVL	$56, AX // clone
	SYSCALL
	TESTQ	AX, AX
	JEQ	child
	CMPQ	AX, $0xfffffffffffff001
	JCC	failed
	MOVQ	AX, pid+24(FP)
	MOVQ	$0, errno+32(FP)
	RET

failed:
	NEGQ	AX
	MOVQ	$0, pid+24(FP)
	MOVQ	AX, errno+32(FP)
	RET

child:
	XORL	BP, BP
	SUBQ	$16, SP
	MOVQ	BX, 0(SP)
	CALL	·become(SB)
	INT	$3
