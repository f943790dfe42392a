/* Avatars that walk in circles at 60 frames a second, without a window: what a game does in its
 * loop. Usage: avatars URL [FRAMES] [AVATARS] [ROOM]
 *
 * Every avatar is a participant of its own, so that one program shows both ends. Positions are
 * awareness: over https:// they go as datagrams, and only the newest counts. What an avatar says is
 * a transaction: everybody gets it, once and in order.
 *
 * Ends with 0 if every avatar has seen all others move and has got all that was said. */

#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "groupwire.h"

enum { MOST_AVATARS = 16, FRAMES_PER_SECOND = 60, MOST_FRAMES_TO_WAIT = 60 * FRAMES_PER_SECOND };

/* What is sent 25 times a second: 8 bytes. A game between machines of different byte orders would
 * write its numbers in one. */
typedef struct position {
  float x, y;
} position;

typedef struct avatar {
  gw_room room;
  uint32_t places, speech;
  int joined, others, closed;
  unsigned long moves, heard;
  position last;
} avatar;

/* Ends the program if a call failed. */
static void check(const char *what, uint32_t code) {
  if (code == GW_CODE_OK) return;
  fprintf(stderr, "%s: %s (%s)\n", what, gw_error_text(), gw_code_word(code));
  exit(1);
}

static void join(avatar *me, const char *url, const char *room, int number) {
  char presence[32];
  snprintf(presence, sizeof presence, "{\"name\":\"avatar %d\"}", number);
  gw_options options = {0};
  options.room = room;
  options.presence = (const uint8_t *)presence;
  options.presence_len = strlen(presence);
  check("gw_connect", gw_connect(url, &options, &me->room));

  gw_qos places = gw_qos_awareness();
  places.max_rate = 25;
  places.deadline_ms = 250;
  check("places", gw_channel(me->room, "places", &places, NULL, &me->places));
  gw_qos speech = gw_qos_transaction();
  check("speech", gw_channel(me->room, "speech", &speech, NULL, &me->speech));
}

/* Takes all events of a room: once in every frame. */
static void take_events(avatar *me) {
  gw_event event;
  for (;;) {
    check("gw_poll", gw_poll(me->room, &event));
    switch (event.type) {
      case GW_EVENT_TYPE_NONE:
        return;
      case GW_EVENT_TYPE_JOINED:
        me->joined = 1;
        break;
      case GW_EVENT_TYPE_PARTICIPANT:
        me->others += event.change == GW_CHANGE_CAME ? 1 : event.change == GW_CHANGE_LEFT ? -1 : 0;
        break;
      case GW_EVENT_TYPE_MESSAGE:
        if (event.channel == me->places && event.bytes_len == sizeof(position)) {
          memcpy(&me->last, event.bytes, sizeof me->last);
          me->moves++;
        } else if (event.channel == me->speech && !(event.flags & GW_STATE)) {
          /* What was said before is state: late joiners get it, too. */
          me->heard++;
        }
        break;
      case GW_EVENT_TYPE_STATUS:
        me->closed = event.status == GW_STATUS_CLOSED;
        break;
      case GW_EVENT_TYPE_FAILED:
        fprintf(stderr, "%s (%s)\n", event.text, gw_code_word(event.code));
        if (event.flags & GW_FATAL) exit(1);
        break;
      default:
        break;
    }
  }
}

static void move(avatar *me, int number, unsigned frame) {
  float angle = (float)frame / FRAMES_PER_SECOND + (float)number;
  position place = {100 * cosf(angle), 100 * sinf(angle)};
  check("gw_send", gw_send(me->room, me->places, (const uint8_t *)&place, sizeof place, NULL, NULL));
}

static void say(avatar *me, const char *text) {
  gw_send_options options = {0};
  options.text = 1;
  check("gw_send", gw_send(me->room, me->speech, (const uint8_t *)text, strlen(text), &options, NULL));
}

/* Waits until the next sixtieth of a second. */
static void next_frame(struct timespec *at) {
  at->tv_nsec += 1000000000 / FRAMES_PER_SECOND;
  if (at->tv_nsec >= 1000000000) {
    at->tv_sec++;
    at->tv_nsec -= 1000000000;
  }
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, at, NULL);
}

int main(int count, char **arguments) {
  if (count < 2) {
    fprintf(stderr, "usage: avatars URL [FRAMES] [AVATARS] [ROOM]\n");
    return 2;
  }
  unsigned frames = count > 2 ? (unsigned)atoi(arguments[2]) : 300;
  int number = count > 3 ? atoi(arguments[3]) : 4;
  if (number < 2 || number > MOST_AVATARS) number = 4;

  const char *room = count > 4 ? arguments[4] : "meadow";

  static avatar avatars[MOST_AVATARS];
  for (int i = 0; i < number; i++) join(&avatars[i], arguments[1], room, i);

  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  unsigned frame = 0, walked = 0;
  int done = 0;
  /* They begin to walk when all are there, and stop when all has come that must come. */
  for (; !done && frame < MOST_FRAMES_TO_WAIT + frames; frame++) {
    int here = 1;
    done = walked >= frames;
    for (int i = 0; i < number; i++) {
      take_events(&avatars[i]);
      here = here && avatars[i].joined && avatars[i].others >= number - 1;
      done = done && avatars[i].moves > 0 && avatars[i].heard == (unsigned long)number;
    }
    if (here && walked < frames) {
      for (int i = 0; i < number; i++) {
        move(&avatars[i], i, frame);
        if (walked == 0) say(&avatars[i], "hello");
      }
      walked++;
    }
    next_frame(&at);
  }

  for (int i = 0; i < number; i++) {
    avatar *me = &avatars[i];
    gw_stats stats;
    check("gw_get_stats", gw_get_stats(me->room, &stats));
    printf("avatar %d: %lu moves seen, %lu heard; %llu datagrams out, %llu in; %.1f ms round trip\n",
           i, me->moves, me->heard, (unsigned long long)stats.datagrams_out,
           (unsigned long long)stats.datagrams_in, stats.round_trip_ms);
    if (!me->joined && gw_trouble(me->room) != GW_CODE_OK) fprintf(stderr, "%s\n", gw_error_text());
    check("gw_leave", gw_leave(me->room));
  }
  /* Leaving takes a moment: the server is told. */
  for (int i = 0; i < number; i++) {
    for (unsigned wait = 0; !avatars[i].closed && wait < MOST_FRAMES_TO_WAIT; wait++) {
      take_events(&avatars[i]);
      next_frame(&at);
    }
    check("gw_free", gw_free(avatars[i].room));
  }
  return done ? 0 : 1;
}
