/* The processor time of the process, for want of a better one: WASI has none,
 * so this is the monotonic clock. wasi-libc's emulation counts from a start
 * that it notes while the image is made, which lies in another process's time
 * once the image is restored. */
#include <time.h>

clock_t clock(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
        return (clock_t)-1;
    }
    return now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
}
