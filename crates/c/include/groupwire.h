/* The Groupwire client for C (docs/c.md). Written by cbindgen from crates/c: do not edit.
 *
 * Every function returns GW_CODE_OK or the code of an error, and never waits. gw_error_text() then says
 * what is wrong and what to do. Functions may be called from any thread; one thread at a time polls
 * a room. Nothing here calls back. */

#ifndef GROUPWIRE_H
#define GROUPWIRE_H

#include <stddef.h>
#include <stdint.h>

/*
 The `channel` of an event that is about no channel.
 */
#define GW_NO_CHANNEL UINT32_MAX

/*
 The message was sent as text; its bytes are UTF-8.
 */
#define GW_TEXT 1

/*
 An own transaction, which now has its place in the room's order.
 */
#define GW_OWN 2

/*
 Awareness that a later transaction of its sender has overtaken.
 */
#define GW_STALE 4

/*
 Late-joiner state: the message describes the room as it was when this participant joined.
 */
#define GW_STATE 8

/*
 Of GW_EVENT_TYPE_JOINED: the session goes on where it stopped.
 */
#define GW_RESUMED 16

/*
 Of GW_EVENT_TYPE_FAILED: the room is closed, because trying again cannot help.
 */
#define GW_FATAL 32

/*
 Of GW_EVENT_TYPE_OPENED: the channel was open before, and its QoS changed.
 */
#define GW_CHANGED 64

/*
 Of GW_EVENT_TYPE_COUNT: all participants are announced.
 */
#define GW_EVERYBODY 128

/*
 Of GW_EVENT_TYPE_PAGE: no other participants follow.
 */
#define GW_LAST 256

/*
 The result of a call. gw_code_word gives the word of a number.
 */
enum gw_code
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   No error.
   */
  GW_CODE_OK = 0,
  /*
   The client and the server have no protocol version in common.
   */
  GW_CODE_VERSION = 1,
  /*
   Bytes break a rule of the wire format.
   */
  GW_CODE_MALFORMED = 2,
  /*
   A frame has a type that its receiver does not know.
   */
  GW_CODE_UNSUPPORTED = 3,
  /*
   A value has more bytes than its limit allows, for example a message or a name.
   */
  GW_CODE_TOO_LARGE = 4,
  /*
   There are more items than a limit allows, for example too many channels.
   */
  GW_CODE_TOO_MANY = 5,
  /*
   Bytes that must be text are not UTF-8.
   */
  GW_CODE_INVALID_TEXT = 6,
  /*
   The channel was not opened.
   */
  GW_CODE_UNKNOWN_CHANNEL = 7,
  /*
   The participant has no right to do this.
   */
  GW_CODE_NOT_ALLOWED = 8,
  /*
   The server refused.
   */
  GW_CODE_REFUSED = 9,
  /*
   The values of a QoS contradict each other.
   */
  GW_CODE_INVALID_QOS = 10,
  /*
   Compressed bytes do not decode.
   */
  GW_CODE_COMPRESSION = 11,
  /*
   The other end has sent nothing for too long.
   */
  GW_CODE_SILENT = 12,
  /*
   The other end does not read the packets that it is sent.
   */
  GW_CODE_STALLED = 13,
  /*
   Another connection has taken over the session.
   */
  GW_CODE_REPLACED = 14,
  /*
   There is no such compression.
   */
  GW_CODE_INVALID_COMPRESS = 15,
  /*
   The server did not make a requested change of a QoS.
   */
  GW_CODE_NOT_CHANGED = 16,
  /*
   The room cannot do this at present.
   */
  GW_CODE_NOT_NOW = 17,
  /*
   The server refused a part of the snapshot.
   */
  GW_CODE_PART_REFUSED = 18,
  /*
   The token has expired.
   */
  GW_CODE_EXPIRED = 19,
  /*
   The token was revoked.
   */
  GW_CODE_REVOKED = 20,
  /*
   The user is banned.
   */
  GW_CODE_BANNED = 21,
  /*
   The participant sends far more than its quota.
   */
  GW_CODE_OVER_QUOTA = 22,
  /*
   An argument is wrong; gw_error_text names it.
   */
  GW_CODE_INVALID_ARGUMENT = 100,
  /*
   The server cannot be reached; the client keeps trying.
   */
  GW_CODE_UNREACHABLE = 101,
  /*
   The room was freed or left, or has ended.
   */
  GW_CODE_CLOSED = 102,
  /*
   The room belongs to the process that forked this one.
   */
  GW_CODE_FORKED = 103,
  /*
   Another thread polls the room, or a batch of shared data is open.
   */
  GW_CODE_BUSY = 104,
  /*
   This library has failed.
   */
  GW_CODE_INTERNAL = 105,
  /*
   A name of shared data does not have 1 to 64 characters, or has a slash.
   */
  GW_CODE_BAD_NAME = 106,
  /*
   A key of shared data has more than 128 characters, or an unpaired surrogate.
   */
  GW_CODE_BAD_KEY = 107,
  /*
   A text is not JSON, or a value has a number that is not finite or an unpaired surrogate,
   which JSON cannot carry.
   */
  GW_CODE_NOT_JSON = 108,
  /*
   An argument of a change of shared data is wrong: a value is nested too deeply, fields are
   not an object, or a difference is not a whole number between -2^53 and 2^53.
   */
  GW_CODE_BAD_ARGUMENT = 109,
  /*
   A change of shared data cannot be sent, for example because this participant may not
   publish.
   */
  GW_CODE_NOT_SENT = 110,
  /*
   The other end reported an error that this version does not know.
   */
  GW_CODE_UNKNOWN = 199,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_code gw_code;
#else
typedef uint32_t gw_code;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The state of a room's connection.
 */
enum gw_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   It connects for the first time.
   */
  GW_STATUS_CONNECTING = 0,
  /*
   The room took this participant in.
   */
  GW_STATUS_CONNECTED = 1,
  /*
   The connection broke, and the client connects again.
   */
  GW_STATUS_RECONNECTING = 2,
  /*
   The room is closed for good.
   */
  GW_STATUS_CLOSED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_status gw_status;
#else
typedef uint32_t gw_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The state of a participant's connection.
 */
enum gw_presence
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   It left, or did not come back in time.
   */
  GW_PRESENCE_LEFT = 0,
  /*
   The participant is connected.
   */
  GW_PRESENCE_HERE = 1,
  /*
   Its connection broke; it may still come back.
   */
  GW_PRESENCE_AWAY = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_presence gw_presence;
#else
typedef uint32_t gw_presence;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 What happened to a participant.
 */
enum gw_change
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   The participant came.
   */
  GW_CHANGE_CAME = 0,
  /*
   Its presence, user or connection changed.
   */
  GW_CHANGE_CHANGED = 1,
  /*
   The participant left.
   */
  GW_CHANGE_LEFT = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_change gw_change;
#else
typedef uint32_t gw_change;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The reason of a gap.
 */
enum gw_gap
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   The room lost its state; a program that still has it should send it again.
   */
  GW_GAP_INCARNATION = 0,
  /*
   The room no longer knows this participant, which has a new number now.
   */
  GW_GAP_SESSION = 1,
  /*
   Transactions are missing that the room no longer has.
   */
  GW_GAP_HISTORY = 2,
  /*
   An administrator reset a channel: the program forgets all that it has of it.
   */
  GW_GAP_RESET = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_gap gw_gap;
#else
typedef uint32_t gw_gap;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The outcome of a message to one participant.
 */
enum gw_outcome
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   The receiver's program has it.
   */
  GW_OUTCOME_DELIVERED = 0,
  /*
   The receiver is not in the room, or left before it confirmed the message.
   */
  GW_OUTCOME_GONE = 1,
  /*
   The receiver has not opened the channel, or may not receive on it.
   */
  GW_OUTCOME_NOT_OPEN = 2,
  /*
   Too many messages wait for the receiver.
   */
  GW_OUTCOME_FULL = 3,
  /*
   Not known: the session or the room's state was lost.
   */
  GW_OUTCOME_UNKNOWN = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_outcome gw_outcome;
#else
typedef uint32_t gw_outcome;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 What happened to a message that was given to gw_send.
 */
enum gw_sent
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   The message is on its way, or waits to be sent.
   */
  GW_SENT_ACCEPTED = 0,
  /*
   It waits, and replaced an older value of its key.
   */
  GW_SENT_CONFLATED = 1,
  /*
   The message was not taken, because too many wait: try again after GW_EVENT_TYPE_DRAIN.
   */
  GW_SENT_NOT_NOW = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_sent gw_sent;
#else
typedef uint32_t gw_sent;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The kind of a channel.
 */
enum gw_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   Every message reaches everybody, once and in one order.
   */
  GW_KIND_TRANSACTION = 0,
  /*
   Some messages may be lost, and newer ones replace older ones.
   */
  GW_KIND_AWARENESS = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_kind gw_kind;
#else
typedef uint32_t gw_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 What happens above the highest rate of a channel.
 */
enum gw_overflow
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   Conflate for awareness, aggregate for transactions.
   */
  GW_OVERFLOW_USUAL = 0,
  /*
   Only the newest value of each key is sent.
   */
  GW_OVERFLOW_CONFLATE = 1,
  /*
   All values are sent, in fewer packets.
   */
  GW_OVERFLOW_AGGREGATE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_overflow gw_overflow;
#else
typedef uint32_t gw_overflow;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The memory of each of the up to four models that compress the messages of a connection.
 */
enum gw_memory
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   64 KiB.
   */
  GW_MEMORY_FULL = 0,
  /*
   16 KiB, with which messages take more bytes.
   */
  GW_MEMORY_SMALL = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_memory gw_memory;
#else
typedef uint32_t gw_memory;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 Whether a channel's contract is kept.
 */
enum gw_contract_state
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   It is kept, or there were too few messages to tell.
   */
  GW_CONTRACT_STATE_MET = 0,
  /*
   The contract was broken in the last ten seconds.
   */
  GW_CONTRACT_STATE_MISSED = 1,
  /*
   It cannot be kept on the present path.
   */
  GW_CONTRACT_STATE_CANNOT_MEET = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_contract_state gw_contract_state;
#else
typedef uint32_t gw_contract_state;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 What a confirmed transaction survives.
 */
enum gw_durability
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   Nothing: the room ends with its server.
   */
  GW_DURABILITY_MEMORY = 0,
  /*
   The end of the server and its machine, but not of its disk.
   */
  GW_DURABILITY_LOCAL = 1,
  /*
   The loss of a server's disk, too.
   */
  GW_DURABILITY_CLUSTER = 2,
  /*
   This participant has not joined yet.
   */
  GW_DURABILITY_UNKNOWN = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_durability gw_durability;
#else
typedef uint32_t gw_durability;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 The type of an event, which says which members of gw_event have a meaning.
 */
enum gw_event_type
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   There is no event at present.
   */
  GW_EVENT_TYPE_NONE = 0,
  /*
   The connection has another `status`.
   */
  GW_EVENT_TYPE_STATUS = 1,
  /*
   This participant, `participant`, is in the room. Flag: GW_RESUMED.
   */
  GW_EVENT_TYPE_JOINED = 2,
  /*
   The server opened `channel`, or changed its QoS: `qos`. Flag: GW_CHANGED.
   */
  GW_EVENT_TYPE_OPENED = 3,
  /*
   `channel` is closed, as gw_close_channel wanted.
   */
  GW_EVENT_TYPE_CLOSED = 4,
  /*
   The contract of `channel` is in the state `contract`, in words `text`.
   */
  GW_EVENT_TYPE_CONTRACT = 5,
  /*
   A message of `participant` on `channel`: `bytes`, `key`, `position`, `number`, `age_us`,
   `departed`. Flags: GW_TEXT, GW_OWN, GW_STALE, GW_STATE.
   */
  GW_EVENT_TYPE_MESSAGE = 6,
  /*
   A message to one participant, `to`. Otherwise as GW_EVENT_TYPE_MESSAGE.
   */
  GW_EVENT_TYPE_DIRECT = 7,
  /*
   The `outcome` of the own message `tag` to `participant` on `channel`.
   */
  GW_EVENT_TYPE_RECEIPT = 8,
  /*
   `change` happened to `participant`, which is `presence`; `bytes` is what it published,
   `text` its user or null.
   */
  GW_EVENT_TYPE_PARTICIPANT = 9,
  /*
   A large room has `count` participants. Flag: GW_EVERYBODY.
   */
  GW_EVENT_TYPE_COUNT = 10,
  /*
   One participant of the answer to gw_want_page, as in GW_EVENT_TYPE_PARTICIPANT.
   */
  GW_EVENT_TYPE_PAGE_ENTRY = 11,
  /*
   The end of the answer to gw_want_page with `participant` as its argument. Flag: GW_LAST.
   */
  GW_EVENT_TYPE_PAGE = 12,
  /*
   The late-joiner state of `channel` is complete, or of all with GW_NO_CHANNEL.
   */
  GW_EVENT_TYPE_SYNCED = 13,
  /*
   The room wants the part `text` of its snapshot up to `position`: gw_snapshot answers.
   */
  GW_EVENT_TYPE_SNAPSHOT_WANTED = 14,
  /*
   The part `text` of the snapshot up to `position` is `bytes`.
   */
  GW_EVENT_TYPE_SNAPSHOT = 15,
  /*
   Something is lost: `reason`, `count` own transactions are uncertain, `channel`, `position`.
   */
  GW_EVENT_TYPE_GAP = 16,
  /*
   After GW_SENT_NOT_NOW: messages are accepted again.
   */
  GW_EVENT_TYPE_DRAIN = 17,
  /*
   `count` own transactions wait for their confirmation: the first ones, or 0.
   */
  GW_EVENT_TYPE_PENDING = 18,
  /*
   Another token is needed: gw_set_token gives it.
   */
  GW_EVENT_TYPE_TOKEN_WANTED = 19,
  /*
   An error, `code` and `text`, of the room or of `channel`. Flag: GW_FATAL.
   */
  GW_EVENT_TYPE_FAILED = 20,
  /*
   The data of the kind `kind` with the name `text` may have changed in the shared data `data`,
   also by this participant. Of a map or list, `bytes` has the keys or ids that may have
   changed, as a JSON array. If `text` is null, only the state may have changed
   (gw_get_shared_state).
   */
  GW_EVENT_TYPE_SHARED_CHANGED = 21,
  /*
   This program does not have all of the shared data `data`, because of `loss`.
   */
  GW_EVENT_TYPE_SHARED_LOST = 22,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_event_type gw_event_type;
#else
typedef uint32_t gw_event_type;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 A kind of shared data. The names of two kinds do not conflict.
 */
enum gw_shared_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   A map or a list.
   */
  GW_SHARED_KIND_CELLS = 0,
  /*
   A counter.
   */
  GW_SHARED_KIND_COUNTER = 1,
  /*
   A value with a reducer, which only programs in Rust and TypeScript can read.
   */
  GW_SHARED_KIND_REDUCER = 2,
  /*
   A lock.
   */
  GW_SHARED_KIND_LOCK = 3,
  /*
   Turns.
   */
  GW_SHARED_KIND_TURNS = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_shared_kind gw_shared_kind;
#else
typedef uint32_t gw_shared_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 Why a program does not have all of the shared data.
 */
enum gw_shared_loss
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /*
   Operations are missing that the room no longer has: join the room anew.
   */
  GW_SHARED_LOSS_HISTORY = 0,
  /*
   The server has lost the room, and this program came back too late to restore its state.
   */
  GW_SHARED_LOSS_RESTART = 1,
  /*
   A snapshot is malformed.
   */
  GW_SHARED_LOSS_SNAPSHOT = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum gw_shared_loss gw_shared_loss;
#else
typedef uint32_t gw_shared_loss;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/*
 How to join a room. Zeros are the defaults of all members but `room`.
 */
typedef struct gw_options {
  /*
   The name of the room, 1 to 256 bytes.
   */
  const char *room;
  /*
   A token by which the server decides who may join, or null.
   */
  const uint8_t *token;
  /*
   The bytes of `token`, at most 4,096.
   */
  size_t token_len;
  /*
   The presence of this participant, which all others see, or null.
   */
  const uint8_t *presence;
  /*
   The bytes of `presence`, at most 4,096.
   */
  size_t presence_len;
  /*
   How the server is authenticated over https:// and wss://: "auto", "roots", "roots:FILE",
   "ask", or SHA-256 hashes of 64 hexadecimal digits, separated by commas. Null: "auto".
   */
  const char *trust;
  /*
   A gw_memory.
   */
  uint32_t memory;
} gw_options;

/*
 A room. 0 is no room. A number is never used again in a process.
 */
typedef uint64_t gw_room;

/*
 What the messages of a channel need (docs/qos.md). Begin with gw_qos_transaction,
 gw_qos_awareness or gw_qos_voice.
 */
typedef struct gw_qos {
  /*
   A gw_kind.
   */
  uint32_t kind;
  /*
   A gw_overflow.
   */
  uint32_t overflow;
  /*
   Awareness only: the share of messages that may be lost or late, 0 to 1.
   */
  double loss;
  /*
   The lowest useful rate in messages per second; 0 for none.
   */
  double min_rate;
  /*
   The highest useful rate in messages per second; 0 for no bound.
   */
  double max_rate;
  /*
   Milliseconds after which a message is of no use; 0 for never.
   */
  uint64_t deadline_ms;
  /*
   0 (least) to 255.
   */
  uint8_t priority;
  /*
   Not 0: a compression context of its own, for contents whose length is a secret.
   */
  uint8_t is_private;
  /*
   Not 0: the order of a channel of transactions records who left.
   */
  uint8_t departures;
  /*
   On awareness with GW_OVERFLOW_AGGREGATE: the number of senders, at most 15, whose frames of
   sound the room passes on at a time; 0 for messages of another kind.
   */
  uint8_t speakers;
} gw_qos;

/*
 This participant's own settings of a channel. Zeros are the defaults.
 */
typedef struct gw_channel_options {
  /*
   Not 0: this participant only receives.
   */
  uint8_t receive_only;
  /*
   Not 0: this participant only sends.
   */
  uint8_t send_only;
  /*
   "template", "off", "auto", or a codec such as "zstd-3" (docs/codecs.md). Null: "template".
   */
  const char *compress;
} gw_channel_options;

/*
 Options of one message. Zeros are the defaults.
 */
typedef struct gw_send_options {
  /*
   On a conflated channel, the key whose older values of this participant it replaces, or null.
   */
  const uint8_t *key;
  /*
   The bytes of `key`.
   */
  size_t key_len;
  /*
   Not 0: the message is text, in UTF-8.
   */
  uint8_t text;
  /*
   Not 0: `priority` is used instead of the channel's.
   */
  uint8_t has_priority;
  /*
   0 (least) to 255.
   */
  uint8_t priority;
  /*
   The only receiver; 0 for all. Only transactions can have one.
   */
  uint32_t to;
  /*
   A number of the program's own, by which it knows the message in GW_EVENT_TYPE_RECEIPT.
   */
  uint32_t tag;
} gw_send_options;

/*
 An event of a room. The members that have no meaning for its type are 0. Everything that it
 points to is valid until the next gw_poll of the room or its gw_free.
 */
typedef struct gw_event {
  /*
   A gw_event_type.
   */
  uint32_t type;
  /*
   Flags such as GW_OWN.
   */
  uint32_t flags;
  /*
   The channel, or GW_NO_CHANNEL.
   */
  uint32_t channel;
  /*
   The sender, the receiver or the participant that the event is about; 0 is the room itself.
   */
  uint32_t participant;
  /*
   A gw_status.
   */
  uint32_t status;
  /*
   A gw_presence.
   */
  uint32_t presence;
  /*
   A gw_change.
   */
  uint32_t change;
  /*
   A gw_outcome.
   */
  uint32_t outcome;
  /*
   A gw_gap.
   */
  uint32_t reason;
  /*
   A gw_contract_state.
   */
  uint32_t contract;
  /*
   A gw_code.
   */
  uint32_t code;
  /*
   The program's own number of a message to one participant.
   */
  uint32_t tag;
  /*
   The number of a message among those of its sender, modulo 2^32.
   */
  uint32_t number;
  /*
   The participant that left for good, in the room's entry about that; otherwise 0.
   */
  uint32_t departed;
  /*
   The only receiver of a message; otherwise 0.
   */
  uint32_t to;
  /*
   The shared data, as gw_shared wrote it.
   */
  uint32_t data;
  /*
   A gw_shared_kind.
   */
  uint32_t kind;
  /*
   A gw_shared_loss.
   */
  uint32_t loss;
  /*
   The place in the room's order; 0 for awareness.
   */
  uint64_t position;
  /*
   A number of participants or transactions.
   */
  uint64_t count;
  /*
   Microseconds since the sending program made the message, as far as the clocks tell.
   */
  uint64_t age_us;
  /*
   The content of a message, a presence or a part of a snapshot, or keys; never null.
   */
  const uint8_t *bytes;
  /*
   The bytes of `bytes`.
   */
  size_t bytes_len;
  /*
   The key of a message, or null.
   */
  const uint8_t *key;
  /*
   The bytes of `key`.
   */
  size_t key_len;
  /*
   A text that ends with NUL, or null.
   */
  const char *text;
  /*
   The QoS in force.
   */
  struct gw_qos qos;
} gw_event;

/*
 How to open shared data. Zeros are the defaults.
 */
typedef struct gw_shared_options {
  /*
   The name of its channel. Null: "shared".
   */
  const char *name;
  /*
   The id of this program among the authors of operations, of at most 128 characters: no other
   program in the room may ever have had it. Null: a random one.
   */
  const char *author;
  /*
   Not 0: no previews, which have a channel of their own.
   */
  uint8_t no_previews;
} gw_shared_options;

/*
 The state of shared data, beside its values.
 */
typedef struct gw_shared_state {
  /*
   How many own operations the room has not ordered. They are applied already.
   */
  uint64_t pending;
  /*
   0 if something is missing (GW_EVENT_TYPE_SHARED_LOST).
   */
  uint8_t complete;
  /*
   Not 0 after the server has lost the room, until the room has all of the state again.
   */
  uint8_t restoring;
  /*
   Not 0 if there is an own operation for gw_undo.
   */
  uint8_t can_undo;
  /*
   Not 0 if there is an own operation for gw_redo.
   */
  uint8_t can_redo;
} gw_shared_state;

/*
 The state of a room, and totals since gw_connect.
 */
typedef struct gw_stats {
  /*
   A gw_status, as of the last polled event.
   */
  uint32_t status;
  /*
   A gw_durability.
   */
  uint32_t durability;
  /*
   This participant's number; 0 before it has joined.
   */
  uint32_t participant;
  /*
   Messages handed to the transport.
   */
  uint64_t messages_out;
  /*
   Their bytes.
   */
  uint64_t bytes_out_before;
  /*
   The bytes of the packets that carried them.
   */
  uint64_t bytes_out_after;
  /*
   Packets handed to the transport.
   */
  uint64_t packets_out;
  /*
   Packets that were sent as datagrams.
   */
  uint64_t datagrams_out;
  /*
   Messages delivered.
   */
  uint64_t messages_in;
  /*
   Their bytes.
   */
  uint64_t bytes_in_before;
  /*
   The bytes of the packets that carried them.
   */
  uint64_t bytes_in_after;
  /*
   Packets received.
   */
  uint64_t packets_in;
  /*
   Packets that came as datagrams.
   */
  uint64_t datagrams_in;
  /*
   Awareness values replaced by newer ones before they were sent.
   */
  uint64_t conflated;
  /*
   How often the session was resumed after its transport was lost.
   */
  uint64_t reconnects;
  /*
   The smoothed round-trip time in milliseconds; 0 before the first measurement.
   */
  double round_trip_ms;
} gw_stats;

/*
 Whether a channel's contract is kept, judged by what this participant receives.
 */
typedef struct gw_contract_report {
  /*
   A gw_contract_state.
   */
  uint32_t state;
  /*
   Messages of the last ten seconds that were received, or are known to be missing.
   */
  uint64_t judged;
  /*
   Of these, messages that were not received, or too late.
   */
  uint64_t missed;
  /*
   Of these, messages that were received too late.
   */
  uint64_t late;
  /*
   The median age of received messages in milliseconds.
   */
  double median_ms;
  /*
   The age in milliseconds that 1 % of received messages exceed.
   */
  double p99_ms;
} gw_contract_report;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 What was wrong with the last call of this thread that failed, and what to do: UTF-8 that is
 valid until the next call of this thread that fails. Never null.
 */
const char *gw_error_text(void);

/*
 The word of a gw_code, such as "too-large"; "ok" for GW_CODE_OK. Never null, valid for ever.
 */
const char *gw_code_word(uint32_t code);

/*
 Joins a room. The address determines the transport: ws://host:port, wss://, tcp://, or https://
 for WebTransport, which has datagrams for awareness. Returns at once; GW_EVENT_TYPE_JOINED tells
 when this participant is in the room, and gw_trouble why not yet. It reconnects after broken
 connections until gw_leave or gw_free.

 `url` ends with NUL, `options` is filled in, `room` points to a gw_room.
 */
uint32_t gw_connect(const char *url, const struct gw_options *options, gw_room *room);

/*
 Leaves a room. A gw_status of GW_STATUS_CLOSED tells when that is done. Own transactions that
 the server has not put in order yet are lost; gw_pending counts them.
 */
uint32_t gw_leave(gw_room room);

/*
 Leaves a room, if gw_leave has not, and frees all that belongs to it. A process that ends at
 once should call gw_leave and wait for GW_STATUS_CLOSED before.
 */
uint32_t gw_free(gw_room room);

/*
 A file descriptor that is readable when events came to an empty queue, for programs that wait in
 poll(2) or an event loop: then call gw_clear_fd, and gw_poll until there are no more events. It
 belongs to the room.

 `fd` points to an int.
 */
uint32_t gw_fd(gw_room room, int32_t *fd);

/*
 Empties the descriptor of gw_fd.
 */
uint32_t gw_clear_fd(gw_room room);

/*
 Changes the presence of this participant, which all others see: at most 4,096 bytes.

 `presence` points to `len` bytes.
 */
uint32_t gw_set_presence(gw_room room, const uint8_t *presence, size_t len);

/*
 Gives another token; the answer to GW_EVENT_TYPE_TOKEN_WANTED.

 `token` points to `len` bytes.
 */
uint32_t gw_set_token(gw_room room, const uint8_t *token, size_t len);

/*
 Asks for the participants after this number, 0 for the first ones, in a room too large to
 announce all. GW_EVENT_TYPE_PAGE_ENTRY and GW_EVENT_TYPE_PAGE answer.
 */
uint32_t gw_want_page(gw_room room, uint32_t after);

/*
 States that this program makes the part `part` of the room's snapshot: the state of `count`
 channels. GW_EVENT_TYPE_SNAPSHOT_WANTED asks for it.

 `part` ends with NUL, `channels` points to `count` numbers.
 */
uint32_t gw_provide(gw_room room, const char *part, const uint32_t *channels, size_t count);

/*
 Answers GW_EVENT_TYPE_SNAPSHOT_WANTED with its `position` and the state after all events before
 it.

 `part` ends with NUL, `state` points to `len` bytes.
 */
uint32_t gw_snapshot(gw_room room,
                     const char *part,
                     uint64_t position,
                     const uint8_t *state,
                     size_t len);

/*
 The QoS of messages that must all arrive, once and in order.
 */
struct gw_qos gw_qos_transaction(void);

/*
 The QoS of values that newer ones replace, of which 5 % may be lost.
 */
struct gw_qos gw_qos_awareness(void);

/*
 The QoS of frames of sound (docs/voice.md): each is of use for 180 ms, and those of the four
 loudest senders are passed on.
 */
struct gw_qos gw_qos_voice(void);

/*
 Opens a channel, now or as soon as there is a connection, and writes its number in this room. A
 channel that is open already keeps its QoS and options. `options` may be null.

 `name` ends with NUL, `qos` and `options` are filled in, `channel` points to a number.
 */
uint32_t gw_channel(gw_room room,
                    const char *name,
                    const struct gw_qos *qos,
                    const struct gw_channel_options *options,
                    uint32_t *channel);

/*
 Ends this participant's part in a channel, after what waits on it was sent and confirmed. Then
 comes GW_EVENT_TYPE_CLOSED.
 */
uint32_t gw_close_channel(gw_room room, uint32_t channel);

/*
 Asks for another QoS of a channel, for all its participants. GW_EVENT_TYPE_OPENED or
 GW_EVENT_TYPE_FAILED answers.

 `qos` is filled in.
 */
uint32_t gw_set_qos(gw_room room, uint32_t channel, const struct gw_qos *qos);

/*
 Asks for at most this many values of each key per second of a conflated channel, always the
 newest; 0 for all.
 */
uint32_t gw_limit_rate(gw_room room, uint32_t channel, double per_second);

/*
 Changes how a channel's messages are compressed between this participant and the server.

 `compress` ends with NUL.
 */
uint32_t gw_set_compress(gw_room room, uint32_t channel, const char *compress);

/*
 Sends a message, or queues it until there is a connection. `options` and `sent`, to which a
 gw_sent is written, may be null; with GW_SENT_NOT_NOW the message was not taken.

 `message` points to `len` bytes, `options` is filled in, `sent` points to a number.
 */
uint32_t gw_send(gw_room room,
                 uint32_t channel,
                 const uint8_t *message,
                 size_t len,
                 const struct gw_send_options *options,
                 uint32_t *sent);

/*
 Writes a ticket for all own transactions up to now, for gw_is_confirmed.

 `ticket` points to a number.
 */
uint32_t gw_ticket(gw_room room, uint32_t *ticket);

/*
 Writes 1 once the server has confirmed all own transactions up to the ticket: they are in the
 room's order and, in a stored room, durable. It can become 1 with any polled event.

 `confirmed` points to an int.
 */
uint32_t gw_is_confirmed(gw_room room, uint32_t ticket, int32_t *confirmed);

/*
 Writes how many own transactions are not confirmed.

 `count` points to a number.
 */
uint32_t gw_pending(gw_room room, uint64_t *count);

/*
 Takes the next event of a room; one of GW_EVENT_TYPE_NONE if there is none at present. A game
 calls it in every frame until there are no more. If the program does not poll, events wait in
 memory up to 4 MiB, and then in the server.

 `event` points to a gw_event.
 */
uint32_t gw_poll(gw_room room, struct gw_event *event);

/*
 Opens shared data (docs/shared.md), and writes its number in this room, for the functions below.
 If shared data of this name is open already, writes its number, and the options have no effect.
 `options` may be null.

 Values are JSON, and texts that are read are UTF-8 which ends with NUL. They are valid until the
 next call of this thread that reads a text of shared data.

 `options` is filled in, `data` points to a number.
 */
uint32_t gw_shared(gw_room room, const struct gw_shared_options *options, uint32_t *data);

/*
 Writes the state of shared data.

 `state` points to a gw_shared_state.
 */
uint32_t gw_get_shared_state(gw_room room, uint32_t data, struct gw_shared_state *state);

/*
 Writes the id of this program among the authors of operations.

 `author` points to a pointer.
 */
uint32_t gw_shared_author(gw_room room, uint32_t data, const char **author);

/*
 Begins a batch: all changes up to gw_end_batch become one operation, which others see as a
 whole, and which is undone as a whole. Reading sees them already. Until the batch ends, gw_poll
 gives no events, so end it soon. GW_CODE_BUSY if a batch is open.
 */
uint32_t gw_begin_batch(gw_room room, uint32_t data);

/*
 Ends a batch, and sends its changes. If that fails, they are taken back. Does nothing if none is
 open.
 */
uint32_t gw_end_batch(gw_room room, uint32_t data);

/*
 Ends a batch, and takes its changes back. Does nothing if none is open.
 */
uint32_t gw_abort_batch(gw_room room, uint32_t data);

/*
 Undoes the last own operation that others have not overwritten. Writes 1 to `undone`, which may
 be null, or 0 if there is none. GW_CODE_BUSY while a batch is open.

 `undone` points to an int.
 */
uint32_t gw_undo(gw_room room, uint32_t data, int32_t *undone);

/*
 Does again what gw_undo has undone. Writes 1 to `redone`, which may be null, or 0 if there is
 nothing.

 `redone` points to an int.
 */
uint32_t gw_redo(gw_room room, uint32_t data, int32_t *redone);

/*
 Writes the value of a counter, which begins at 0.

 `counter` ends with NUL, `value` points to a number.
 */
uint32_t gw_counter_value(gw_room room, uint32_t data, const char *counter, int64_t *value);

/*
 Adds a whole number, or subtracts it if it is negative. Has no effect if the sum would be beyond
 2^53.

 `counter` ends with NUL.
 */
uint32_t gw_counter_add(gw_room room, uint32_t data, const char *counter, int64_t difference);

/*
 Writes the participant that holds a lock; 0 if nobody does.

 `lock` ends with NUL, `holder` points to a number.
 */
uint32_t gw_lock_holder(gw_room room, uint32_t data, const char *lock, uint32_t *holder);

/*
 Asks for a lock. If somebody else holds it, that has no effect. This participant holds it once
 the room has ordered that, as gw_lock_holder tells after GW_EVENT_TYPE_SHARED_CHANGED.

 `lock` ends with NUL.
 */
uint32_t gw_lock_acquire(gw_room room, uint32_t data, const char *lock);

/*
 Releases a lock, if this participant holds it.

 `lock` ends with NUL.
 */
uint32_t gw_lock_release(gw_room room, uint32_t data, const char *lock);

/*
 Writes the participants in the order of their turns as a JSON array of numbers.

 `turns` ends with NUL, `json` points to a pointer.
 */
uint32_t gw_turns_participants(gw_room room, uint32_t data, const char *turns, const char **json);

/*
 Writes the participant whose turn it is; 0 if nobody takes turns.

 `turns` ends with NUL, `current` points to a number.
 */
uint32_t gw_turns_current(gw_room room, uint32_t data, const char *turns, uint32_t *current);

/*
 Adds this participant at the end of the order of turns.

 `turns` ends with NUL.
 */
uint32_t gw_turns_join(gw_room room, uint32_t data, const char *turns);

/*
 Removes this participant from the order of turns.

 `turns` ends with NUL.
 */
uint32_t gw_turns_leave(gw_room room, uint32_t data, const char *turns);

/*
 Ends this participant's turn.

 `turns` ends with NUL.
 */
uint32_t gw_turns_next(gw_room room, uint32_t data, const char *turns);

/*
 Writes the items in their order as a JSON array.

 `list` ends with NUL, `json` points to a pointer.
 */
uint32_t gw_list_values(gw_room room, uint32_t data, const char *list, const char **json);

/*
 Writes the ids of the items, in the order of gw_list_values, as a JSON array of texts.

 `list` ends with NUL, `json` points to a pointer.
 */
uint32_t gw_list_ids(gw_room room, uint32_t data, const char *list, const char **json);

/*
 Writes the item with this id as JSON; null if there is none.

 `list` and `id` end with NUL, `json` points to a pointer.
 */
uint32_t gw_list_get(gw_room room,
                     uint32_t data,
                     const char *list,
                     const char *id,
                     const char **json);

/*
 Inserts an item, JSON, before the one at `index`; SIZE_MAX: at the end. Writes its id to `id`,
 which may be null.

 `list` and `value` end with NUL, `id` points to a pointer.
 */
uint32_t gw_list_insert(gw_room room,
                        uint32_t data,
                        const char *list,
                        size_t index,
                        const char *value,
                        const char **id);

/*
 Replaces the item with this id by a value, JSON. Does nothing if there is none.

 `list`, `id` and `value` end with NUL.
 */
uint32_t gw_list_set(gw_room room,
                     uint32_t data,
                     const char *list,
                     const char *id,
                     const char *value);

/*
 Moves an item, so that it has this index afterwards; SIZE_MAX: the last one. Does nothing if
 there is none with this id.

 `list` and `id` end with NUL.
 */
uint32_t gw_list_move(gw_room room, uint32_t data, const char *list, const char *id, size_t index);

/*
 Removes the item with this id.

 `list` and `id` end with NUL.
 */
uint32_t gw_list_delete(gw_room room, uint32_t data, const char *list, const char *id);

/*
 Writes the value of a key as JSON; null if there is none.

 `map` and `key` end with NUL, `json` points to a pointer.
 */
uint32_t gw_map_get(gw_room room,
                    uint32_t data,
                    const char *map,
                    const char *key,
                    const char **json);

/*
 Writes all keys and values as a JSON object. Their order means nothing.

 `map` ends with NUL, `json` points to a pointer.
 */
uint32_t gw_map_entries(gw_room room, uint32_t data, const char *map, const char **json);

/*
 Sets the value of a key, JSON.

 `map`, `key` and `value` end with NUL.
 */
uint32_t gw_map_set(gw_room room,
                    uint32_t data,
                    const char *map,
                    const char *key,
                    const char *value);

/*
 Sets the fields of a value that the JSON object `fields` has, and removes those that the JSON
 array `removed` names, which may be null. Does nothing if the key has no object.

 `map`, `key`, `fields` and `removed` end with NUL.
 */
uint32_t gw_map_patch(gw_room room,
                      uint32_t data,
                      const char *map,
                      const char *key,
                      const char *fields,
                      const char *removed);

/*
 Removes a key and its value.

 `map` and `key` end with NUL.
 */
uint32_t gw_map_delete(gw_room room, uint32_t data, const char *map, const char *key);

/*
 Shows others an unfinished change of the fields of a value, such as a drag, without an
 operation; null for `fields` ends it. It may be lost.

 `map`, `key` and `fields` end with NUL.
 */
uint32_t gw_map_preview(gw_room room,
                        uint32_t data,
                        const char *map,
                        const char *key,
                        const char *fields);

/*
 Writes the value of a key with the previews of others applied, as JSON; null if there is none.

 `map` and `key` end with NUL, `json` points to a pointer.
 */
uint32_t gw_map_previewed(gw_room room,
                          uint32_t data,
                          const char *map,
                          const char *key,
                          const char **json);

/*
 Writes the state of a room, and its counts.

 `stats` points to a gw_stats.
 */
uint32_t gw_get_stats(gw_room room, struct gw_stats *stats);

/*
 Writes whether the contract of a channel is kept; GW_CONTRACT_STATE_MET and zeros before the
 channel is open.

 `report` points to a gw_contract_report.
 */
uint32_t gw_contract(gw_room room, uint32_t channel, struct gw_contract_report *report);

/*
 Fails with GW_CODE_UNREACHABLE, and a gw_error_text that says why, if the last attempt to
 connect failed. The client keeps trying.
 */
uint32_t gw_trouble(gw_room room);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GROUPWIRE_H */
