#include "@name@.h"

#define @name@_selftest @name@_selftest_run
#include "@name@_selftest.h"
#undef @name@_selftest

int @name@_selftest(void) { return @name@_selftest_run(); }
