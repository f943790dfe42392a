/* How many transactions a second the library carries from one room to another, and the processor
 * time of each: throughput URL MESSAGES. scripts/bench-clients.mjs compares with other languages. */

#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "groupwire.h"

static void check(uint32_t code) {
  if (code == GW_CODE_OK) return;
  fprintf(stderr, "%s (%s)\n", gw_error_text(), gw_code_word(code));
  exit(1);
}

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  unsigned long messages = strtoul(arguments[2], NULL, 10), sent = 0, seen = 0;
  char name[64];
  snprintf(name, sizeof name, "throughput %d", (int)getpid());
  gw_options options = {0};
  options.room = name;
  gw_room rooms[2];
  uint32_t channels[2];
  gw_qos qos = gw_qos_transaction();
  struct pollfd readable[2];
  for (int i = 0; i < 2; i++) {
    check(gw_connect(arguments[1], &options, &rooms[i]));
    check(gw_channel(rooms[i], "data", &qos, NULL, &channels[i]));
    readable[i].events = POLLIN;
    check(gw_fd(rooms[i], &readable[i].fd));
  }

  int joined = 0, full = 0;
  double start = 0, cpu = 0;
  gw_send_options text = {0};
  text.text = 1;
  while (seen < messages) {
    for (int i = 0; i < 2; i++) {
      gw_event event;
      check(gw_clear_fd(rooms[i]));
      for (check(gw_poll(rooms[i], &event)); event.type != GW_EVENT_TYPE_NONE;
           check(gw_poll(rooms[i], &event))) {
        if (event.type == GW_EVENT_TYPE_MESSAGE && i == 1) seen++;
        if (event.type == GW_EVENT_TYPE_DRAIN) full = 0;
        if (event.type == GW_EVENT_TYPE_JOINED && ++joined == 2) {
          start = seconds(CLOCK_MONOTONIC);
          cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        }
      }
    }
    while (joined == 2 && sent < messages && !full) {
      char message[128];
      uint32_t outcome;
      int size = snprintf(message, sizeof message, "{\"number\":%8lu,\"text\":\"%-64s\"}", sent, "a value");
      check(gw_send(rooms[0], channels[0], (const uint8_t *)message, (size_t)size, &text, &outcome));
      full = outcome == GW_SENT_NOT_NOW;
      sent += !full;
    }
    if (seen < messages) poll(readable, 2, 1000);
  }
  start = seconds(CLOCK_MONOTONIC) - start;
  cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  gw_stats stats;
  check(gw_get_stats(rooms[0], &stats));
  printf("%.0f messages/s, %.2f us of processor time and %.2f bytes each\n",
         (double)messages / start, cpu * 1e6 / (double)messages,
         (double)stats.bytes_out_after / (double)messages);
  for (int i = 0; i < 2; i++) check(gw_free(rooms[i]));
  return 0;
}
