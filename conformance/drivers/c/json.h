/* Commands and answers as JSON lines. A command is an object without parts: its members are texts,
 * whole numbers, true and false. That is all of JSON that a driver has to read. */

#ifndef CONFORMANCE_JSON_H
#define CONFORMANCE_JSON_H

#include <stddef.h>
#include <stdint.h>

enum { MOST_MEMBERS = 16 };

typedef struct command {
  size_t count;
  struct {
    char *name;
    char *text; /* null for a number */
    int64_t number;
  } members[MOST_MEMBERS];
} command;

/* A text that grows. */
typedef struct buffer {
  char *text;
  size_t len, capacity;
} buffer;

/* Reads a line in place: the texts of the command point into it. Ends the program if the line is
 * no command. */
void read_command(char *line, command *into);

/* The text of a member; `otherwise` if there is none. */
const char *text_of(const command *of, const char *name, const char *otherwise);

/* The number of a member; 0 if there is none. */
int64_t number_of(const command *of, const char *name);

void add(buffer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds bytes as a JSON text, with its quotes. */
void add_text(buffer *to, const char *bytes, size_t len);

/* Ends the program. */
void die(const char *why);

#endif
