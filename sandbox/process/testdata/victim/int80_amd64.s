#include "textflag.h"

// func getpid32() int64
// The 32-bit entry of the kernel, call 20.
TEXT ·getpid32(SB), NOSPLIT, $0-8
	MOVQ $20, AX
	INT  $0x80
	MOVQ AX, ret+0(FP)
	RET
