#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void die(const char *why) {
  fprintf(stderr, "driver: %s\n", why);
  exit(1);
}

static char *skip_spaces(char *at) {
  while (*at == ' ') at++;
  return at;
}

static char *expect(char *at, char wanted) {
  at = skip_spaces(at);
  if (*at != wanted) die("a command that is not an object without parts");
  return at + 1;
}

/* Writes a character as UTF-8; returns the end. */
static char *put_utf8(char *to, unsigned long code) {
  if (code < 0x80) {
    *to++ = (char)code;
  } else if (code < 0x800) {
    *to++ = (char)(0xc0 | code >> 6);
    *to++ = (char)(0x80 | (code & 0x3f));
  } else {
    *to++ = (char)(0xe0 | code >> 12);
    *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    *to++ = (char)(0x80 | (code & 0x3f));
  }
  return to;
}

/* Reads a text after its first quote. It is never longer than what it is read from. The runner
 * writes other characters than control characters as they are. */
static char *read_text(char *at, char **text) {
  char *to = *text = at;
  while (*at != '"') {
    if (*at == '\0') die("a text without an end");
    if (*at != '\\') {
      *to++ = *at++;
      continue;
    }
    at++;
    const char *escapes = "nrtbf", *values = "\n\r\t\b\f", *found = *at ? strchr(escapes, *at) : NULL;
    if (*at == 'u') {
      char digits[5] = {0};
      strncpy(digits, at + 1, 4);
      if (strlen(digits) != 4) die("a text without an end");
      to = put_utf8(to, strtoul(digits, NULL, 16));
      at += 5;
    } else if (*at == '\0') {
      die("a text without an end");
    } else {
      *to++ = found ? values[found - escapes] : *at;
      at++;
    }
  }
  *to = '\0';
  return at + 1;
}

void read_command(char *line, command *into) {
  into->count = 0;
  char *at = skip_spaces(expect(line, '{'));
  while (*at != '}') {
    if (into->count == MOST_MEMBERS) die("a command with too many members");
    size_t index = into->count++;
    into->members[index].text = NULL;
    into->members[index].number = 0;
    at = expect(read_text(expect(at, '"'), &into->members[index].name), ':');
    at = skip_spaces(at);
    if (*at == '"') {
      at = read_text(at + 1, &into->members[index].text);
    } else if (strncmp(at, "true", 4) == 0) {
      into->members[index].number = 1;
      at += 4;
    } else if (strncmp(at, "false", 5) == 0) {
      at += 5;
    } else {
      char *end;
      into->members[index].number = strtoll(at, &end, 10);
      if (end == at) die("a member that is neither a text nor a number");
      at = end;
    }
    at = skip_spaces(at);
    if (*at == ',') at = skip_spaces(at + 1);
  }
}

const char *text_of(const command *of, const char *name, const char *otherwise) {
  for (size_t index = 0; index < of->count; index++) {
    if (strcmp(of->members[index].name, name) == 0 && of->members[index].text) return of->members[index].text;
  }
  return otherwise;
}

int64_t number_of(const command *of, const char *name) {
  for (size_t index = 0; index < of->count; index++) {
    if (strcmp(of->members[index].name, name) == 0) return of->members[index].number;
  }
  return 0;
}

static void reserve(buffer *in, size_t more) {
  if (in->len + more < in->capacity) return;
  in->capacity = (in->len + more + 1) * 2;
  in->text = realloc(in->text, in->capacity);
  if (!in->text) die("no memory");
}

void add(buffer *to, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int len = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (len < 0) die("a text that cannot be written");
  reserve(to, (size_t)len + 1);
  vsnprintf(to->text + to->len, (size_t)len + 1, format, again);
  va_end(again);
  to->len += (size_t)len;
}

void add_text(buffer *to, const char *bytes, size_t len) {
  add(to, "\"");
  for (size_t index = 0; index < len; index++) {
    unsigned char byte = (unsigned char)bytes[index];
    if (byte == '"' || byte == '\\') {
      add(to, "\\%c", byte);
    } else if (byte < 0x20) {
      add(to, "\\u%04x", byte);
    } else {
      add(to, "%c", byte);
    }
  }
  add(to, "\"");
}
