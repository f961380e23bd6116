#!/bin/sh
# Runs Debian's own python of the guest's version, unpacked beside this file,
# through its own loader: the machine need not have that version. It writes nothing beside its modules (-B, which
# unlike the variable holds under -I too): a layer must stay as it was made.
usr=$(dirname "$(readlink -f "$0")")/usr
lib=$usr/lib/x86_64-linux-gnu
PYTHONHOME=$usr exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$usr/bin/python3.13" -B "$@"
