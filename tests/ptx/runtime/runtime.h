/* What translated kernels call. The translation defines WAITS, LOCAL_BYTES and SHARED_BYTES before. */
#include "arithmetic.h"
#include "meetings.h"
#include "memory.h"
