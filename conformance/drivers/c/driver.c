/* Plays a participant with the C library: reads commands as JSON lines, and writes an answer to
 * each. conformance/README.md has the commands. */

#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "groupwire.h"
#include "json.h"
#include "shared.h"

enum { MOST_CHANNELS = 256, MOST_PEOPLE = 64, WAIT_MS = 100 };

static gw_room room;
static uint32_t own_id, status, failed, last_tag;
static char failed_text[512];

static struct {
  char *name;
  uint32_t number;
} channels[MOST_CHANNELS];
static size_t channel_count;

static struct {
  uint32_t id, presence;
  char *shown;
  size_t shown_len;
} people[MOST_PEOPLE];
static size_t people_count;

/* The last message to one participant whose outcome is known. */
static uint32_t receipt_tag, receipt_outcome;

/* The events that the runner has not asked for yet, as the inside of a JSON array. */
static buffer noted;

static const char *const STATUSES[] = {"connecting", "connected", "reconnecting", "closed"};
static const char *const OUTCOMES[] = {"delivered", "gone", "not-open", "full", "unknown"};
static const char *const GAPS[] = {"incarnation", "session", "history", "reset"};
static const char *const SENT[] = {"accepted", "conflated", "not-now"};

static const char *channel_name(uint32_t number) {
  for (size_t index = 0; index < channel_count; index++) {
    if (channels[index].number == number) return channels[index].name;
  }
  return "";
}

static void note_message(const char *type, const gw_event *event) {
  add(&noted, "%s{\"event\":\"%s\",\"channel\":", noted.len ? "," : "", type);
  const char *name = channel_name(event->channel);
  add_text(&noted, name, strlen(name));
  add(&noted, ",\"text\":");
  add_text(&noted, (const char *)event->bytes, event->bytes_len);
  if (event->key) {
    add(&noted, ",\"key\":");
    add_text(&noted, (const char *)event->key, event->key_len);
  }
  add(&noted, ",\"sender\":%u,\"own\":%s,\"state\":%s}", event->participant,
      event->flags & GW_OWN ? "true" : "false", event->flags & GW_STATE ? "true" : "false");
}

static void note_word(const char *type, const char *name, const char *word) {
  add(&noted, "%s{\"event\":\"%s\",\"%s\":\"%s\"}", noted.len ? "," : "", type, name, word);
}

static void note_participant(const gw_event *event) {
  size_t at = 0;
  while (at < people_count && people[at].id != event->participant) at++;
  if (at == MOST_PEOPLE) die("too many participants");
  if (at == people_count) {
    people_count++;
  } else {
    free(people[at].shown);
  }
  if (event->change == GW_CHANGE_LEFT) {
    people[at] = people[--people_count];
    return;
  }
  people[at].id = event->participant;
  people[at].presence = event->presence;
  people[at].shown_len = event->bytes_len;
  people[at].shown = malloc(event->bytes_len + 1);
  if (!people[at].shown) die("no memory");
  memcpy(people[at].shown, event->bytes, event->bytes_len);
}

/* Takes all events that have come. */
static void take_events(void) {
  gw_event event;
  if (!room) return;
  while (gw_poll(room, &event) == GW_CODE_OK && event.type != GW_EVENT_TYPE_NONE) {
    switch (event.type) {
      case GW_EVENT_TYPE_STATUS:
        status = event.status;
        note_word("status", "status", STATUSES[status]);
        break;
      case GW_EVENT_TYPE_JOINED:
        own_id = event.participant;
        break;
      case GW_EVENT_TYPE_MESSAGE:
        note_message("message", &event);
        break;
      case GW_EVENT_TYPE_DIRECT:
        note_message("direct", &event);
        break;
      case GW_EVENT_TYPE_RECEIPT:
        receipt_tag = event.tag;
        receipt_outcome = event.outcome;
        break;
      case GW_EVENT_TYPE_PARTICIPANT:
        note_participant(&event);
        break;
      case GW_EVENT_TYPE_GAP:
        note_word("gap", "reason", GAPS[event.reason]);
        break;
      case GW_EVENT_TYPE_TOKEN_WANTED:
        note_word("token", "of", "room");
        break;
      case GW_EVENT_TYPE_FAILED:
        note_word("error", "code", gw_code_word(event.code));
        /* A server that does not answer in time is tried again. */
        if (!failed && event.code != GW_CODE_SILENT) {
          failed = event.code;
          snprintf(failed_text, sizeof failed_text, "%s", event.text ? event.text : "");
        }
        break;
      default:
        break;
    }
  }
}

/* Waits until something came, or for a short time: a confirmation may come with any event. */
static void wait_for_events(void) {
  int32_t fd;
  if (gw_fd(room, &fd) != GW_CODE_OK) die("a room without a descriptor");
  struct pollfd waiting = {.fd = fd, .events = POLLIN};
  poll(&waiting, 1, WAIT_MS);
  gw_clear_fd(room);
  take_events();
}

static void join(const command *given) {
  const char *token = text_of(given, "token", ""), *presence = text_of(given, "presence", "");
  gw_options options = {.room = text_of(given, "room", ""),
                        .token = (const uint8_t *)token,
                        .token_len = strlen(token),
                        .presence = (const uint8_t *)presence,
                        .presence_len = strlen(presence)};
  if (has_failed(gw_connect(text_of(given, "url", ""), &options, &room), gw_error_text())) return;
  while (!failed && status != GW_STATUS_CONNECTED) wait_for_events();
  if (status != GW_STATUS_CONNECTED) {
    has_failed(failed, failed_text);
  } else {
    printf("{\"id\":%u}\n", own_id);
  }
}

static void open_channel(const command *given) {
  int is_awareness = strcmp(text_of(given, "kind", ""), "awareness") == 0;
  gw_qos qos = is_awareness ? gw_qos_awareness() : gw_qos_transaction();
  const char *name = text_of(given, "channel", "");
  uint32_t number;
  if (has_failed(gw_channel(room, name, &qos, NULL, &number), gw_error_text())) return;
  if (channel_count == MOST_CHANNELS) die("too many channels");
  channels[channel_count].name = strdup(name);
  channels[channel_count++].number = number;
  puts("{}");
}

/* Sends the text of a command; `to` is 0 for all. Returns whether it failed. */
static int send_text(const command *given, uint32_t to, uint32_t tag, uint32_t *sent) {
  const char *name = text_of(given, "channel", ""), *text = text_of(given, "text", "");
  const char *key = text_of(given, "key", NULL);
  gw_send_options options = {.text = 1, .to = to, .tag = tag};
  options.key = (const uint8_t *)key;
  options.key_len = key ? strlen(key) : 0;
  uint32_t number = GW_NO_CHANNEL;
  for (size_t index = 0; index < channel_count; index++) {
    if (strcmp(channels[index].name, name) == 0) number = channels[index].number;
  }
  return has_failed(gw_send(room, number, (const uint8_t *)text, strlen(text), &options, sent), gw_error_text());
}

static void send_to(const command *given) {
  uint32_t sent, tag = ++last_tag;
  if (send_text(given, (uint32_t)number_of(given, "to"), tag, &sent)) return;
  while (receipt_tag != tag) wait_for_events();
  printf("{\"outcome\":\"%s\"}\n", OUTCOMES[receipt_outcome]);
}

static void confirm(void) {
  uint32_t ticket;
  int32_t is_confirmed = 0;
  if (has_failed(gw_ticket(room, &ticket), gw_error_text())) return;
  while (!is_confirmed) {
    wait_for_events();
    if (has_failed(gw_is_confirmed(room, ticket, &is_confirmed), gw_error_text())) return;
  }
  puts("{}");
}

static void show_state(void) {
  uint64_t pending = 0;
  gw_pending(room, &pending);
  buffer answer = {0};
  add(&answer, "{\"id\":%u,\"status\":\"%s\",\"pending\":%llu,\"people\":[", own_id, STATUSES[status],
      (unsigned long long)pending);
  for (size_t index = 0; index < people_count; index++) {
    const char *away = people[index].presence == GW_PRESENCE_AWAY ? "true" : "false";
    add(&answer, "%s{\"id\":%u,\"away\":%s,\"presence\":", index ? "," : "", people[index].id, away);
    add_text(&answer, people[index].shown, people[index].shown_len);
    add(&answer, "}");
  }
  add(&answer, "]}");
  puts(answer.text);
  free(answer.text);
}

static void show_events(void) {
  printf("{\"events\":[%s]}\n", noted.len ? noted.text : "");
  noted.len = 0;
}

static void leave(void) {
  if (has_failed(gw_leave(room), gw_error_text())) return;
  while (status != GW_STATUS_CLOSED) wait_for_events();
  puts("{}");
}

static void run(const command *given) {
  const char *name = text_of(given, "do", "");
  uint32_t sent;
  take_events();
  if (strcmp(name, "hello") == 0) {
    puts("{\"language\":\"C\",\"can\":[\"shared\"]}");
  } else if (strcmp(name, "join") == 0) {
    join(given);
  } else if (strcmp(name, "open") == 0) {
    open_channel(given);
  } else if (strcmp(name, "send") == 0) {
    if (!send_text(given, 0, 0, &sent)) printf("{\"sent\":\"%s\"}\n", SENT[sent]);
  } else if (strcmp(name, "sendTo") == 0) {
    send_to(given);
  } else if (strcmp(name, "confirm") == 0) {
    confirm();
  } else if (strcmp(name, "presence") == 0) {
    const char *presence = text_of(given, "presence", "");
    answer_nothing(gw_set_presence(room, (const uint8_t *)presence, strlen(presence)));
  } else if (strcmp(name, "token") == 0) {
    const char *token = text_of(given, "token", "");
    answer_nothing(gw_set_token(room, (const uint8_t *)token, strlen(token)));
  } else if (strcmp(name, "state") == 0) {
    show_state();
  } else if (strcmp(name, "events") == 0) {
    show_events();
  } else if (strcmp(name, "leave") == 0) {
    leave();
  } else if (!run_shared(room, own_id, given)) {
    puts("{\"error\":\"unsupported\",\"text\":\"no such command\"}");
  }
  fflush(stdout);
}

int main(void) {
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, stdin) > 0) {
    command given;
    read_command(line, &given);
    run(&given);
  }
  return 0;
}
