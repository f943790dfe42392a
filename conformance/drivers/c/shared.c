#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"

static uint32_t data;

/* Writes the id of the list's item at the index `at`; the code of an error if there is none. */
static uint32_t find_item(gw_room room, const command *given, char *id, size_t size) {
  const char *ids;
  uint32_t code = gw_list_ids(room, data, "texts", &ids);
  if (code != GW_CODE_OK) return code;
  /* Ids are letters, digits and signs that JSON does not escape. */
  for (int64_t at = number_of(given, "at"); (ids = strchr(ids, '"')) != NULL; at--) {
    const char *end = strchr(++ids, '"');
    if (!end) break;
    if (at == 0) {
      snprintf(id, size, "%.*s", (int)(end - ids), ids);
      return GW_CODE_OK;
    }
    ids = end + 1;
  }
  return GW_CODE_INVALID_ARGUMENT;
}

static uint32_t change_item(gw_room room, const command *given, const char *name) {
  char id[256];
  uint32_t code = find_item(room, given, id, sizeof id);
  if (code != GW_CODE_OK) return code;
  if (strcmp(name, "change") == 0) return gw_list_set(room, data, "texts", id, text_of(given, "value", NULL));
  if (strcmp(name, "delete") == 0) return gw_list_delete(room, data, "texts", id);
  return gw_list_move(room, data, "texts", id, (size_t)number_of(given, "place"));
}

static uint32_t group(gw_room room, const command *given) {
  uint32_t code = gw_begin_batch(room, data);
  if (code != GW_CODE_OK) return code;
  code = gw_map_set(room, data, "shapes", text_of(given, "key", NULL), text_of(given, "value", NULL));
  if (code == GW_CODE_OK) code = gw_counter_add(room, data, "likes", number_of(given, "by"));
  if (code == GW_CODE_OK) return gw_end_batch(room, data);
  gw_abort_batch(room, data);
  return code;
}

/* Adds `,"name":JSON` with what a function has written. */
static void add_json(buffer *to, const char *name, uint32_t code, const char *json) {
  if (code != GW_CODE_OK || !json) die(gw_error_text());
  add(to, "%s\"%s\":%s", to->len > 1 ? "," : "", name, json);
}

static void show(gw_room room, uint32_t own_id) {
  buffer answer = {0};
  const char *json = NULL;
  int64_t likes = 0;
  uint32_t holder = 0;
  gw_shared_state state = {0};
  add(&answer, "{");
  uint32_t code = gw_map_entries(room, data, "shapes", &json);
  add_json(&answer, "shapes", code, json);
  code = gw_list_values(room, data, "texts", &json);
  add_json(&answer, "texts", code, json);
  code = gw_turns_participants(room, data, "game", &json);
  add_json(&answer, "turns", code, json);
  if (gw_counter_value(room, data, "likes", &likes) != GW_CODE_OK) die(gw_error_text());
  if (gw_lock_holder(room, data, "pen", &holder) != GW_CODE_OK) die(gw_error_text());
  if (gw_get_shared_state(room, data, &state) != GW_CODE_OK) die(gw_error_text());
  add(&answer, ",\"likes\":%lld,\"holder\":%u,\"isMine\":%s,\"pending\":%llu}", (long long)likes, holder,
      holder && holder == own_id ? "true" : "false", (unsigned long long)state.pending);
  puts(answer.text);
  free(answer.text);
}

int run_shared(gw_room room, uint32_t own_id, const command *given) {
  const char *name = text_of(given, "do", ""), *key = text_of(given, "key", NULL), *value = text_of(given, "value", NULL);
  uint32_t code;
  if (strcmp(name, "data") == 0) {
    show(room, own_id);
    return 1;
  } else if (strcmp(name, "share") == 0) {
    code = gw_shared(room, NULL, &data);
  } else if (strcmp(name, "put") == 0) {
    code = gw_map_set(room, data, "shapes", key, value);
  } else if (strcmp(name, "patch") == 0) {
    code = gw_map_patch(room, data, "shapes", key, value, NULL);
  } else if (strcmp(name, "remove") == 0) {
    code = gw_map_delete(room, data, "shapes", key);
  } else if (strcmp(name, "push") == 0) {
    code = gw_list_insert(room, data, "texts", SIZE_MAX, value, NULL);
  } else if (strcmp(name, "insert") == 0) {
    code = gw_list_insert(room, data, "texts", (size_t)number_of(given, "at"), value, NULL);
  } else if (strcmp(name, "change") == 0 || strcmp(name, "move") == 0 || strcmp(name, "delete") == 0) {
    code = change_item(room, given, name);
  } else if (strcmp(name, "add") == 0) {
    code = gw_counter_add(room, data, "likes", number_of(given, "by"));
  } else if (strcmp(name, "group") == 0) {
    code = group(room, given);
  } else if (strcmp(name, "undo") == 0) {
    code = gw_undo(room, data, NULL);
  } else if (strcmp(name, "redo") == 0) {
    code = gw_redo(room, data, NULL);
  } else if (strcmp(name, "acquire") == 0) {
    code = gw_lock_acquire(room, data, "pen");
  } else if (strcmp(name, "release") == 0) {
    code = gw_lock_release(room, data, "pen");
  } else if (strcmp(name, "joinTurns") == 0) {
    code = gw_turns_join(room, data, "game");
  } else if (strcmp(name, "leaveTurns") == 0) {
    code = gw_turns_leave(room, data, "game");
  } else if (strcmp(name, "nextTurn") == 0) {
    code = gw_turns_next(room, data, "game");
  } else {
    return 0;
  }
  answer_nothing(code);
  return 1;
}
