/* What the tests of the C library have in common. They define _POSIX_C_SOURCE before. */

#ifndef CHECK_H
#define CHECK_H

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groupwire.h"

#define REQUIRE(what)                                                                             \
  do {                                                                                            \
    if (!(what)) {                                                                                \
      fprintf(stderr, "line %d: %s; last error: %s\n", __LINE__, #what, gw_error_text());         \
      exit(1);                                                                                    \
    }                                                                                             \
  } while (0)

/* A time that no test reaches. */
enum { PATIENCE_MS = 60000 };

/* Rooms of this run alone: a room keeps what was said in it before. */
static int run;

static gw_room join(const char *url, const char *name) {
  char own_name[64];
  snprintf(own_name, sizeof own_name, "%s %d", name, run);
  gw_options options = {0};
  options.room = own_name;
  gw_room room = 0;
  REQUIRE(gw_connect(url, &options, &room) == GW_CODE_OK && room != 0);
  return room;
}

/* Waits by the descriptor until an event of this type comes; `event` is valid until the next poll. */
static void await(gw_room room, uint32_t type, gw_event *event) {
  int fd;
  REQUIRE(gw_fd(room, &fd) == GW_CODE_OK);
  for (;;) {
    REQUIRE(gw_clear_fd(room) == GW_CODE_OK);
    for (;;) {
      REQUIRE(gw_poll(room, event) == GW_CODE_OK);
      if (event->type == type) return;
      if (event->type == GW_EVENT_TYPE_NONE) break;
      REQUIRE(!(event->type == GW_EVENT_TYPE_FAILED && (event->flags & GW_FATAL)));
    }
    struct pollfd readable = {fd, POLLIN, 0};
    REQUIRE(poll(&readable, 1, PATIENCE_MS) == 1);
  }
}

#endif
