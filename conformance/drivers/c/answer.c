#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groupwire.h"
#include "json.h"

int has_failed(uint32_t code, const char *text) {
  if (code == GW_CODE_OK) return 0;
  buffer answer = {0};
  add(&answer, "{\"error\":\"%s\",\"text\":", gw_code_word(code));
  add_text(&answer, text, strlen(text));
  add(&answer, "}");
  puts(answer.text);
  free(answer.text);
  return 1;
}

void answer_nothing(uint32_t code) {
  if (!has_failed(code, gw_error_text())) puts("{}");
}
