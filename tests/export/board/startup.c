/* Start a Cortex-M of an MPS2 board under QEMU, with newlib and semihosting. */
#include <stdint.h>

extern uint32_t stack_top;
void _start(void);
void reset(void);
void fault(void);

/* End the program with an error: SYS_EXIT, ADP_Stopped_RunTimeErrorUnknown. */
void fault(void) { __asm volatile("movs r0, #0x18\n ldr r1, =0x20023\n bkpt 0xab"); }

void reset(void) {
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* the floating point unit, where there is one */
    __asm volatile("dsb\n isb");
    _start();
    fault();
}

typedef struct {
    uint32_t *stack;
    void (*handlers[15])(void);
} vector_table;

__attribute__((section(".vectors"), used)) static const vector_table vectors = {
    &stack_top, {reset, fault, fault, fault, fault, fault}};
