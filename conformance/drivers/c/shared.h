/* The commands for shared data. */

#ifndef CONFORMANCE_SHARED_H
#define CONFORMANCE_SHARED_H

#include "groupwire.h"
#include "json.h"

/* Runs a command for shared data, and answers it; returns 0 if it is none. `own_id` is this
 * participant. */
int run_shared(gw_room room, uint32_t own_id, const command *given);

#endif
