# Read after CPython's Makefile: the bytecode loop has flags of its own.
Python/ceval.o: override OPT = $(EVAL_OPT)
