# What sysconfig reads for this platform. The real file describes a compiler
# and an installation, neither of which a guest has.
build_time_vars = {}
