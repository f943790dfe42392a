/* What the header promises, against a server: wrong arguments are errors, numbers of freed rooms
 * are errors, opening and closing many rooms leaks nothing, direct messages have receipts.
 * Usage: contract URL [ROOMS] [no-fork] */

#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static uint32_t open_channel(gw_room room, const char *name) {
  gw_qos qos = gw_qos_transaction();
  uint32_t channel;
  REQUIRE(gw_channel(room, name, &qos, NULL, &channel) == GW_CODE_OK);
  return channel;
}

static void wrong_arguments(const char *url) {
  gw_options options = {0};
  gw_room room = 1;
  REQUIRE(gw_connect(NULL, &options, &room) == GW_CODE_INVALID_ARGUMENT && room == 0);
  REQUIRE(gw_connect(url, NULL, &room) == GW_CODE_INVALID_ARGUMENT);
  REQUIRE(gw_connect(url, &options, &room) == GW_CODE_INVALID_ARGUMENT);
  REQUIRE(strstr(gw_error_text(), "options.room"));
  options.room = "demo";
  REQUIRE(gw_connect(url, &options, NULL) == GW_CODE_INVALID_ARGUMENT);
  REQUIRE(gw_connect("http://x", &options, &room) == GW_CODE_INVALID_ARGUMENT);
  REQUIRE(gw_connect("\xff\xfe", &options, &room) == GW_CODE_INVALID_ARGUMENT);
  options.memory = 7;
  REQUIRE(gw_connect(url, &options, &room) == GW_CODE_INVALID_ARGUMENT);
  options.memory = 0;
  options.token_len = 5;
  REQUIRE(gw_connect(url, &options, &room) == GW_CODE_INVALID_ARGUMENT);
  options.token_len = 0;
  options.room = "";
  REQUIRE(gw_connect(url, &options, &room) == GW_CODE_MALFORMED);

  gw_event event;
  gw_room nobodys[] = {0, 1, ~(gw_room)0, (gw_room)getpid() << 32 | 77};
  for (size_t i = 0; i < sizeof nobodys / sizeof *nobodys; i++) {
    REQUIRE(gw_poll(nobodys[i], &event) != GW_CODE_OK && event.type == GW_EVENT_TYPE_NONE);
    REQUIRE(gw_send(nobodys[i], 0, NULL, 0, NULL, NULL) != GW_CODE_OK);
    REQUIRE(gw_free(nobodys[i]) != GW_CODE_OK);
  }

  room = join(url, "arguments");
  uint32_t channel = open_channel(room, "chat");
  REQUIRE(gw_poll(room, NULL) == GW_CODE_INVALID_ARGUMENT);
  REQUIRE(gw_send(room, channel, NULL, 3, NULL, NULL) == GW_CODE_INVALID_ARGUMENT);
  REQUIRE(gw_send(room, channel, (const uint8_t *)"x", (size_t)-1, NULL, NULL) ==
          GW_CODE_INVALID_ARGUMENT);
  REQUIRE(gw_send(room, 99, (const uint8_t *)"x", 1, NULL, NULL) == GW_CODE_UNKNOWN_CHANNEL);
  gw_send_options text = {0};
  text.text = 1;
  REQUIRE(gw_send(room, channel, (const uint8_t *)"\xff", 1, &text, NULL) ==
          GW_CODE_INVALID_TEXT);
  static uint8_t large[17 << 20];
  REQUIRE(gw_send(room, channel, large, sizeof large, NULL, NULL) == GW_CODE_TOO_LARGE);
  gw_qos qos = gw_qos_awareness();
  REQUIRE(gw_channel(room, NULL, &qos, NULL, &channel) == GW_CODE_INVALID_ARGUMENT);
  REQUIRE(channel == GW_NO_CHANNEL);
  REQUIRE(gw_channel(room, "x", NULL, NULL, &channel) == GW_CODE_INVALID_ARGUMENT);
  qos.kind = 9;
  REQUIRE(gw_channel(room, "x", &qos, NULL, &channel) == GW_CODE_INVALID_ARGUMENT);
  qos = gw_qos_transaction();
  qos.loss = 0.5;
  REQUIRE(gw_channel(room, "x", &qos, NULL, &channel) == GW_CODE_INVALID_QOS);
  qos = gw_qos_voice();
  REQUIRE(qos.speakers == 4);
  qos.speakers = 16;
  REQUIRE(gw_channel(room, "x", &qos, NULL, &channel) == GW_CODE_INVALID_QOS);
  REQUIRE(gw_limit_rate(room, 0, -1) == GW_CODE_INVALID_ARGUMENT);
  REQUIRE(gw_set_compress(room, 0, "zip") == GW_CODE_INVALID_COMPRESS);
  REQUIRE(strcmp(gw_code_word(GW_CODE_INVALID_COMPRESS), "invalid-compress") == 0);
  REQUIRE(strcmp(gw_code_word(4711), "unknown") == 0);
  REQUIRE(gw_free(room) == GW_CODE_OK);
  REQUIRE(gw_free(room) == GW_CODE_CLOSED);
  REQUIRE(gw_poll(room, &event) == GW_CODE_CLOSED);
}

static void direct_messages(const char *url) {
  gw_room ann = join(url, "direct"), bob = join(url, "direct");
  uint32_t to_bob = open_channel(ann, "call");
  open_channel(bob, "call");
  gw_event event;
  await(bob, GW_EVENT_TYPE_JOINED, &event);
  uint32_t number = event.participant;
  await(bob, GW_EVENT_TYPE_OPENED, &event);
  REQUIRE(event.qos.kind == GW_KIND_TRANSACTION && event.qos.priority == 128);
  await(ann, GW_EVENT_TYPE_JOINED, &event);
  gw_send_options options = {0};
  options.to = number;
  options.tag = 4711;
  REQUIRE(gw_send(ann, to_bob, (const uint8_t *)"for bob", 7, &options, NULL) == GW_CODE_OK);
  await(bob, GW_EVENT_TYPE_DIRECT, &event);
  REQUIRE(event.to == number && event.bytes_len == 7 && !memcmp(event.bytes, "for bob", 7));
  await(ann, GW_EVENT_TYPE_RECEIPT, &event);
  REQUIRE(event.tag == 4711 && event.participant == number);
  REQUIRE(event.outcome == GW_OUTCOME_DELIVERED);
  REQUIRE(gw_free(ann) == GW_CODE_OK && gw_free(bob) == GW_CODE_OK);
}

static void confirmations(const char *url) {
  gw_room room = join(url, "confirmed");
  uint32_t channel = open_channel(room, "chat"), ticket, sent;
  uint64_t pending;
  int confirmed;
  gw_event event;
  REQUIRE(gw_send(room, channel, (const uint8_t *)"saved?", 6, NULL, &sent) == GW_CODE_OK);
  REQUIRE(sent == GW_SENT_ACCEPTED);
  REQUIRE(gw_ticket(room, &ticket) == GW_CODE_OK && ticket == 1);
  REQUIRE(gw_is_confirmed(room, ticket, &confirmed) == GW_CODE_OK);
  await(room, GW_EVENT_TYPE_MESSAGE, &event);
  REQUIRE((event.flags & GW_OWN) && event.position > 0 && event.key == NULL);
  REQUIRE(gw_is_confirmed(room, ticket, &confirmed) == GW_CODE_OK && confirmed);
  REQUIRE(gw_pending(room, &pending) == GW_CODE_OK && pending == 0);
  gw_stats stats;
  REQUIRE(gw_get_stats(room, &stats) == GW_CODE_OK && stats.messages_out == 1);
  REQUIRE(stats.durability == GW_DURABILITY_MEMORY && stats.status == GW_STATUS_CONNECTED);
  REQUIRE(gw_leave(room) == GW_CODE_OK);
  do await(room, GW_EVENT_TYPE_STATUS, &event);
  while (event.status != GW_STATUS_CLOSED);
  REQUIRE(gw_send(room, channel, NULL, 0, NULL, NULL) == GW_CODE_CLOSED);
  REQUIRE(gw_free(room) == GW_CODE_OK);
}

/* A child cannot use the rooms of its parent, and can join rooms of its own. */
static void forks(const char *url) {
  gw_room room = join(url, "fork");
  gw_event event;
  await(room, GW_EVENT_TYPE_JOINED, &event);
  pid_t child = fork();
  if (child == 0) {
    int is_right = gw_poll(room, &event) == GW_CODE_FORKED && gw_free(room) == GW_CODE_FORKED;
    if (!is_right) _exit(1);
    gw_room own = join(url, "fork");
    await(own, GW_EVENT_TYPE_JOINED, &event);
    _exit(gw_free(own) == GW_CODE_OK ? 0 : 2);
  }
  int status;
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
  REQUIRE(gw_free(room) == GW_CODE_OK);
}

static void *send_many(void *argument) {
  gw_room room = *(gw_room *)argument;
  for (int i = 0; i < 500; i++) {
    if (gw_send(room, 0, (const uint8_t *)"x", 1, NULL, NULL) == GW_CODE_OK) continue;
    return argument;
  }
  return NULL;
}

/* Several threads send while one polls, and the room is freed under them. */
static void threads(const char *url) {
  gw_room room = join(url, "threads");
  open_channel(room, "chat");
  pthread_t senders[4];
  gw_event event;
  for (int i = 0; i < 4; i++) REQUIRE(!pthread_create(&senders[i], NULL, send_many, &room));
  for (int i = 0; i < 1000; i++) await(room, GW_EVENT_TYPE_MESSAGE, &event);
  REQUIRE(gw_free(room) == GW_CODE_OK);
  for (int i = 0; i < 4; i++) pthread_join(senders[i], NULL);
}

static void many_rooms(const char *url, int count) {
  gw_event event;
  for (int i = 0; i < count; i++) {
    gw_room room = join(url, "many");
    open_channel(room, "chat");
    /* Some are freed while they still connect. */
    if (i % 3) await(room, GW_EVENT_TYPE_JOINED, &event);
    REQUIRE(gw_free(room) == GW_CODE_OK);
  }
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  const char *url = arguments[1];
  run = (int)getpid();
  wrong_arguments(url);
  direct_messages(url);
  confirmations(url);
  if (count < 4) forks(url);
  threads(url);
  many_rooms(url, count > 2 ? atoi(arguments[2]) : 50);
  return 0;
}
