/* bzip2 without stdio asks its user for this. It calls it when its own state
   makes no sense, and does not expect to go on. */
void bz_internal_error(int code);

void bz_internal_error(int code)
{
    (void)code;
    __builtin_trap();
}
