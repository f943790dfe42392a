/* Shared data from C, against a server: two participants change the same maps, lists, counters,
 * locks and turns, undo, and meet again after a late join.
 * Usage: shared URL */

#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "check.h"

typedef struct {
  gw_room room;
  uint32_t data, id;
} member;

static member enter(const char *url, const char *name) {
  member one = {0};
  gw_event event;
  one.room = join(url, name);
  REQUIRE(gw_shared(one.room, NULL, &one.data) == GW_CODE_OK);
  await(one.room, GW_EVENT_TYPE_JOINED, &event);
  one.id = event.participant;
  return one;
}

/* Waits for changes until `is_so`; a change may have come before. */
#define AWAIT(who, is_so)                                                                         \
  do {                                                                                            \
    gw_event change;                                                                              \
    while (!(is_so)) await((who).room, GW_EVENT_TYPE_SHARED_CHANGED, &change);                    \
  } while (0)

static const char *value(member one, const char *key) {
  const char *json;
  REQUIRE(gw_map_get(one.room, one.data, "shapes", key, &json) == GW_CODE_OK);
  return json ? json : "none";
}

static const char *items(member one) {
  const char *json;
  REQUIRE(gw_list_values(one.room, one.data, "tasks", &json) == GW_CODE_OK);
  return json;
}

static int64_t likes(member one) {
  int64_t count;
  REQUIRE(gw_counter_value(one.room, one.data, "likes", &count) == GW_CODE_OK);
  return count;
}

static uint32_t holder(member one) {
  uint32_t number;
  REQUIRE(gw_lock_holder(one.room, one.data, "pen", &number) == GW_CODE_OK);
  return number;
}

static uint32_t current(member one) {
  uint32_t number;
  REQUIRE(gw_turns_current(one.room, one.data, "game", &number) == GW_CODE_OK);
  return number;
}

static const char *players(member one) {
  const char *json;
  REQUIRE(gw_turns_participants(one.room, one.data, "game", &json) == GW_CODE_OK);
  return json;
}

static uint64_t unordered(member one) {
  gw_shared_state state;
  REQUIRE(gw_get_shared_state(one.room, one.data, &state) == GW_CODE_OK && state.complete);
  return state.pending;
}

static int is(const char *text, const char *expected) { return strcmp(text, expected) == 0; }

static void maps_lists_and_counters(member ann, member bob) {
  const char *id;
  REQUIRE(gw_map_set(ann.room, ann.data, "shapes", "a", "{\"x\":1,\"y\":2}") == GW_CODE_OK);
  REQUIRE(is(value(ann, "a"), "{\"x\":1,\"y\":2}"));
  AWAIT(bob, is(value(bob, "a"), "{\"x\":1,\"y\":2}"));
  REQUIRE(gw_map_patch(bob.room, bob.data, "shapes", "a", "{\"x\":5}", "[\"y\"]") == GW_CODE_OK);
  AWAIT(ann, is(value(ann, "a"), "{\"x\":5}"));
  REQUIRE(is(value(ann, "b"), "none"));
  REQUIRE(gw_list_insert(ann.room, ann.data, "tasks", SIZE_MAX, "\"milk\"", NULL) == GW_CODE_OK);
  REQUIRE(gw_list_insert(ann.room, ann.data, "tasks", 0, "\"bread\"", &id) == GW_CODE_OK);
  char bread[64];
  snprintf(bread, sizeof bread, "%s", id);
  REQUIRE(gw_list_move(ann.room, ann.data, "tasks", bread, SIZE_MAX) == GW_CODE_OK);
  AWAIT(bob, is(items(bob), "[\"milk\",\"bread\"]"));
  REQUIRE(gw_list_set(bob.room, bob.data, "tasks", bread, "\"rolls\"") == GW_CODE_OK);
  AWAIT(ann, is(items(ann), "[\"milk\",\"rolls\"]"));
  REQUIRE(gw_list_delete(ann.room, ann.data, "tasks", bread) == GW_CODE_OK);
  REQUIRE(gw_list_get(ann.room, ann.data, "tasks", bread, &id) == GW_CODE_OK && id == NULL);
  REQUIRE(gw_counter_add(ann.room, ann.data, "likes", 3) == GW_CODE_OK);
  REQUIRE(gw_counter_add(bob.room, bob.data, "likes", -1) == GW_CODE_OK);
  AWAIT(ann, likes(ann) == 2 && unordered(ann) == 0);
  AWAIT(bob, likes(bob) == 2 && unordered(bob) == 0 && is(items(bob), "[\"milk\"]"));
}

static void locks_and_turns(member ann, member bob) {
  REQUIRE(gw_lock_acquire(ann.room, ann.data, "pen") == GW_CODE_OK && holder(ann) == 0);
  AWAIT(ann, holder(ann) == ann.id);
  AWAIT(bob, holder(bob) == ann.id);
  REQUIRE(gw_lock_acquire(bob.room, bob.data, "pen") == GW_CODE_OK);
  AWAIT(bob, unordered(bob) == 0);
  REQUIRE(holder(bob) == ann.id);
  REQUIRE(gw_lock_release(ann.room, ann.data, "pen") == GW_CODE_OK);
  AWAIT(bob, holder(bob) == 0);
  REQUIRE(gw_turns_join(ann.room, ann.data, "game") == GW_CODE_OK);
  AWAIT(bob, current(bob) == ann.id);
  REQUIRE(gw_turns_join(bob.room, bob.data, "game") == GW_CODE_OK);
  char expected[32];
  snprintf(expected, sizeof expected, "[%u,%u]", ann.id, bob.id);
  AWAIT(ann, is(players(ann), expected));
  REQUIRE(gw_turns_next(ann.room, ann.data, "game") == GW_CODE_OK);
  AWAIT(ann, current(ann) == bob.id);
  REQUIRE(gw_turns_leave(ann.room, ann.data, "game") == GW_CODE_OK);
  snprintf(expected, sizeof expected, "[%u]", bob.id);
  AWAIT(bob, is(players(bob), expected));
}

static void batches_and_undo(member ann, member bob) {
  gw_event event;
  int done;
  REQUIRE(gw_begin_batch(ann.room, ann.data) == GW_CODE_OK);
  REQUIRE(gw_begin_batch(ann.room, ann.data) == GW_CODE_BUSY);
  REQUIRE(gw_map_set(ann.room, ann.data, "shapes", "b", "1") == GW_CODE_OK);
  REQUIRE(gw_counter_add(ann.room, ann.data, "likes", 10) == GW_CODE_OK && likes(ann) == 12);
  REQUIRE(gw_poll(ann.room, &event) == GW_CODE_OK && event.type == GW_EVENT_TYPE_NONE);
  REQUIRE(gw_end_batch(ann.room, ann.data) == GW_CODE_OK);
  AWAIT(bob, is(value(bob, "b"), "1"));
  REQUIRE(likes(bob) == 12);
  REQUIRE(gw_undo(ann.room, ann.data, &done) == GW_CODE_OK && done);
  AWAIT(bob, is(value(bob, "b"), "none"));
  REQUIRE(likes(bob) == 2);
  REQUIRE(gw_redo(ann.room, ann.data, NULL) == GW_CODE_OK && likes(ann) == 12);
  REQUIRE(gw_redo(ann.room, ann.data, &done) == GW_CODE_OK && !done);
  REQUIRE(gw_begin_batch(ann.room, ann.data) == GW_CODE_OK);
  REQUIRE(gw_map_delete(ann.room, ann.data, "shapes", "a") == GW_CODE_OK);
  REQUIRE(gw_abort_batch(ann.room, ann.data) == GW_CODE_OK && is(value(ann, "a"), "{\"x\":5}"));
}

/* Previews reach those who are here, and are no operations. */
static void previews(member ann, member bob) {
  const char *json;
  uint64_t before = unordered(ann);
  gw_event event;
  do {
    REQUIRE(gw_map_preview(ann.room, ann.data, "shapes", "a", "{\"x\":7}") == GW_CODE_OK);
    await(bob.room, GW_EVENT_TYPE_SHARED_CHANGED, &event);
    REQUIRE(gw_map_previewed(bob.room, bob.data, "shapes", "a", &json) == GW_CODE_OK);
  } while (!is(json, "{\"x\":7}"));
  REQUIRE(is(value(bob, "a"), "{\"x\":5}") && unordered(ann) == before);
  REQUIRE(gw_map_preview(ann.room, ann.data, "shapes", "a", NULL) == GW_CODE_OK);
}

static void events(member ann, member bob) {
  gw_event event;
  AWAIT(bob, likes(bob) == 12);
  REQUIRE(gw_map_set(ann.room, ann.data, "others", "c\"", "null") == GW_CODE_OK);
  /* Other changes may come before. */
  do await(bob.room, GW_EVENT_TYPE_SHARED_CHANGED, &event);
  while (!event.text || !is(event.text, "others"));
  REQUIRE(event.kind == GW_SHARED_KIND_CELLS && event.data == bob.data);
  REQUIRE(event.bytes_len == 7 && !memcmp(event.bytes, "[\"c\\\"\"]", 7));
  const char *json;
  REQUIRE(gw_map_entries(bob.room, bob.data, "others", &json) == GW_CODE_OK);
  REQUIRE(is(json, "{\"c\\\"\":null}"));
}

static void wrong_arguments(member ann) {
  const char *json = "kept";
  gw_room room = ann.room;
  uint32_t data = ann.data;
  REQUIRE(gw_map_set(room, data, "shapes", "a", NULL) == GW_CODE_INVALID_ARGUMENT);
  REQUIRE(gw_map_set(room, data, "shapes", "a", "{") == GW_CODE_NOT_JSON);
  REQUIRE(strstr(gw_error_text(), "`value`"));
  REQUIRE(gw_map_set(room, data, "shapes", "a", "1e999") == GW_CODE_NOT_JSON);
  REQUIRE(gw_map_set(room, data, "", "a", "1") == GW_CODE_BAD_NAME);
  REQUIRE(gw_map_patch(room, data, "shapes", "a", "1", NULL) == GW_CODE_BAD_ARGUMENT);
  REQUIRE(gw_map_patch(room, data, "shapes", "a", "{}", "[1]") == GW_CODE_INVALID_ARGUMENT);
  REQUIRE(gw_counter_add(room, data, "likes", INT64_MIN) == GW_CODE_BAD_ARGUMENT);
  REQUIRE(gw_map_get(room, data + 9, "shapes", "a", &json) == GW_CODE_INVALID_ARGUMENT && !json);
  REQUIRE(gw_map_get(room, data, "shapes", "a", NULL) == GW_CODE_INVALID_ARGUMENT);
  char key[130];
  memset(key, 'k', sizeof key - 1);
  key[sizeof key - 1] = 0;
  REQUIRE(gw_map_set(room, data, "shapes", key, "1") == GW_CODE_BAD_KEY);
  REQUIRE(is(gw_code_word(GW_CODE_BAD_KEY), "bad-key"));
  gw_shared_options options = {0};
  options.author = key;
  REQUIRE(gw_shared(room, &options, &data) == GW_CODE_INVALID_ARGUMENT);
  REQUIRE(gw_shared(room, &options, NULL) == GW_CODE_INVALID_ARGUMENT);
  /* The operations of shared data belong to no channel of the program. */
  REQUIRE(gw_send(room, 0, NULL, 0, NULL, NULL) == GW_CODE_UNKNOWN_CHANNEL);
}

int main(int count, char **arguments) {
  if (count < 2) return 2;
  const char *url = arguments[1];
  run = (int)getpid();
  member ann = enter(url, "shared"), bob = enter(url, "shared");
  maps_lists_and_counters(ann, bob);
  locks_and_turns(ann, bob);
  batches_and_undo(ann, bob);
  previews(ann, bob);
  events(ann, bob);
  wrong_arguments(ann);
  AWAIT(ann, unordered(ann) == 0);
  /* One who opens the data after it has joined gets all of it, too. */
  member late = {0};
  gw_event event;
  late.room = join(url, "shared");
  await(late.room, GW_EVENT_TYPE_JOINED, &event);
  late.id = event.participant;
  gw_shared_options options = {0};
  options.author = "the author";
  REQUIRE(gw_shared(late.room, &options, &late.data) == GW_CODE_OK);
  AWAIT(late, likes(late) == 12 && is(value(late, "a"), "{\"x\":5}") && current(late) == bob.id);
  REQUIRE(gw_lock_acquire(late.room, late.data, "pen") == GW_CODE_OK);
  AWAIT(ann, holder(ann) == late.id);
  const char *author;
  REQUIRE(gw_shared_author(late.room, late.data, &author) == GW_CODE_OK && is(author, "the author"));
  REQUIRE(gw_leave(ann.room) == GW_CODE_OK);
  do await(ann.room, GW_EVENT_TYPE_STATUS, &event);
  while (event.status != GW_STATUS_CLOSED);
  REQUIRE(gw_counter_add(ann.room, ann.data, "likes", 1) == GW_CODE_CLOSED);
  REQUIRE(gw_free(ann.room) == GW_CODE_OK && gw_free(bob.room) == GW_CODE_OK);
  REQUIRE(gw_free(late.room) == GW_CODE_OK);
  return 0;
}
