/* cc -std=c99 -O2 selftest.c -o selftest && ./selftest */
#include <stdio.h>

#include "selftest.h"

int main(void) {
    const int wrong = @name@_selftest();
    if (wrong)
        printf("self-test: answer %d of @count@ differs\n", wrong);
    else
        printf("self-test: passed\n");
    return wrong != 0;
}
