package groupwire

import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.withTimeoutOrNull

/**
 * A session in a room. It reconnects after broken connections until [leave] or [close].
 *
 * All functions may be called from any thread. Only `suspend` functions wait. What fails is a
 * [GroupwireException].
 */
public class Room private constructor(private val session: Session) : AutoCloseable {
    private val backlog = Backlog(session)

    /**
     * All events, until the room is closed. While nobody collects, events wait: in memory up to 4 MiB, then in
     * the server. The first collector gets what has waited; one that comes while others collect gets what comes
     * from then on. A collector that is 1,024 events behind makes the others wait.
     */
    public val events: Flow<Event> get() = backlog.events

    /** The number of this participant; null before it has joined. */
    public val participant: UInt? get() = native { session.participant() }

    /** The other participants, as far as events that were collected tell. */
    public val participants: List<Participant> get() = native { session.participants() }

    /** The state of the connection, as of the last collected event. */
    public val status: Status get() = native { session.status() }

    /** Why there is no connection, if the last attempt to make one failed; the client keeps trying. */
    public val trouble: Failure? get() = native { session.trouble() }

    /** How many own transactions the server has not confirmed. */
    public val pending: ULong get() = native { session.pending() }

    /** What a confirmed transaction survives; null before this participant has joined. */
    public val durability: Durability? get() = native { session.durability() }

    /** Counts of this room. */
    public val stats: Stats get() = native { session.stats() }

    /**
     * Opens a channel. One that is open already keeps its QoS and options.
     *
     * @param qos [transactions] or [awareness]; the participant that opens a channel first decides.
     * @param publish true if this participant sends.
     * @param subscribe true if this participant receives.
     * @param compress `template`, `off`, `auto`, or a codec such as `zstd-3`.
     */
    public fun channel(
        name: String,
        qos: Qos = transactions(),
        publish: Boolean = true,
        subscribe: Boolean = true,
        compress: String = "template",
    ): Channel {
        val id = native { session.channel(name, qos, ChannelOptions(publish, subscribe, compress)) }
        return Channel(this, session, id, name)
    }

    /**
     * Opens shared data: maps, lists, counters, locks and turns that are the same for all participants. Data of
     * this name that is open already is returned as it is. Somebody has to collect [events] all the time, because
     * changes of others arrive with them.
     *
     * @param author the id of this program among the authors of operations, which no other program in the room
     * ever had; empty for a random one.
     * @param previews true if this program shows and sees previews.
     */
    public fun shared(name: String = "shared", author: String = "", previews: Boolean = true): Shared =
        Shared(this, session, native { session.shared(SharedOptions(name, author, previews)) }, name)

    /**
     * Waits until this participant is in the room, and returns its number. A server that cannot be reached is no
     * failure: the client keeps trying; put `withTimeout` around it, and read [trouble].
     *
     * @throws GroupwireException if the room refuses this participant for good, or its token has expired: after
     * [setToken] it can be called again.
     */
    public suspend fun joined(): UInt {
        backlog.until { session.participantOrNull() != null || backlog.tokenFailure != null }
        val failure = backlog.fatal ?: backlog.tokenFailure
        return session.participantOrNull() ?: throw (failure?.toException() ?: closed())
    }

    /**
     * Waits until the server has confirmed all own transactions up to now.
     *
     * @throws GroupwireException if the room ends before.
     */
    public suspend fun confirmed() {
        val ticket = native { session.ticket() }
        backlog.until { native { session.isConfirmed(ticket) } }
        if (!native { session.isConfirmed(ticket) }) throw (backlog.fatal?.toException() ?: closed())
    }

    /** Changes the presence of this participant, which all others see: at most 4,096 bytes. */
    public fun setPresence(presence: ByteArray): Unit = native { session.setPresence(presence) }

    /** Gives another token; the answer to [Event.TokenWanted]. */
    public fun setToken(token: String) {
        backlog.tokenFailure = null
        native { session.setToken(token.encodeToByteArray()) }
    }

    /** Asks for the participants after this number, in a room too large to announce all; [Event.Page] answers. */
    public fun wantPage(after: UInt = 0u): Unit = native { session.wantPage(after) }

    /** States that this program makes a part of the room's snapshot: the state of these channels. */
    public fun provide(part: String, channels: List<Channel>): Unit =
        native { session.provide(part, channels.map { it.id }) }

    /** Answers [Event.SnapshotWanted] with the state after all events before it. */
    public fun snapshot(wanted: Event.SnapshotWanted, bytes: ByteArray): Unit =
        native { session.snapshot(wanted.part, wanted.asOf, bytes) }

    /** Waits until what was sent is confirmed, at most for `patience`; then leaves the room and closes it. */
    public suspend fun leave(patience: Duration = 5.seconds) {
        withTimeoutOrNull(patience) {
            try {
                confirmed()
                session.leave()
                backlog.until { false }
            } catch (_: GroupwireException) {
                // It has ended already.
            }
        }
        close()
    }

    /** Leaves the room at once. Transactions that the server has not confirmed may be lost: see [leave]. */
    override fun close(): Unit = backlog.close()

    /** Connects. */
    public companion object {
        /**
         * Joins a room. Returns at once; [joined] waits until this participant is in the room.
         *
         * @param url determines the transport: `ws://`, `wss://`, `tcp://`, or `https://` for WebTransport.
         * @param name of the room, 1 to 256 bytes.
         * @param token by which the server decides who may join; empty for none.
         * @param presence what all others see of this participant: at most 4,096 bytes.
         * @param trust `auto`, `roots`, `roots:FILE`, `ask`, or SHA-256 hashes of certificates.
         * @param memory of the models that compress messages.
         * @throws InvalidArgumentException for an argument that is malformed or too long.
         */
        public fun connect(
            url: String,
            name: String,
            token: String = "",
            presence: ByteArray = ByteArray(0),
            trust: String = "auto",
            memory: Memory = Memory.FULL,
        ): Room {
            val options = Options(name, token.encodeToByteArray(), presence, trust, memory)
            return Room(native { Session.connect(url, options) })
        }
    }
}

private fun Session.participantOrNull(): UInt? = native { participant() }
