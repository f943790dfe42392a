/* Answers of the driver. */

#ifndef CONFORMANCE_ANSWER_H
#define CONFORMANCE_ANSWER_H

#include <stdint.h>

/* Answers with an error if a call failed; returns whether it did. */
int has_failed(uint32_t code, const char *text);

/* Answers a command whose call has this result. */
void answer_nothing(uint32_t code);

#endif
