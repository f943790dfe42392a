package groupwire

import kotlinx.coroutines.channels.Channel as Signal
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock

/** Events taken from the native library at a time, so that few calls cross into it. */
private const val BATCH = 64

/**
 * Events that wait for the slowest collector. Above it, no more are taken from the native library, which keeps
 * at most 4 MiB and then reads no more from the network.
 */
private const val MOST_WAITING = 1024

/**
 * The events of a session, for any number of collectors, each with a cursor of its own. There is no thread or
 * coroutine behind it: the coroutine that first finds nothing new waits for the native library on behalf of all.
 */
internal class Backlog(private val session: Session) {
    private class Cursor(var next: Long)

    private val lock = Any()

    /** Held by the coroutine that waits for the native library. */
    private val pulling = Mutex()

    /** Signals that a cursor moved on. */
    private val space = Signal<Unit>(Signal.CONFLATED)
    private val waiting = ArrayDeque<Event>()

    /** The number of the first waiting event. */
    private var first = 0L
    private val cursors = HashSet<Cursor>()

    /** True after the last event. */
    private var isOver = false
    private var isClosed = false

    /** The failure that closed the room, if one did. */
    @Volatile
    var fatal: Failure? = null
        private set

    /** The failure of a token that has to be replaced. */
    @Volatile
    var tokenFailure: Failure? = null

    /**
     * The first collector gets what has waited; one that comes while others collect gets what comes from then
     * on. Without a collector, events wait.
     */
    val events: Flow<Event> = flow {
        val cursor = enter()
        try {
            while (true) {
                val event = take(cursor)
                if (event != null) emit(event) else if (!pull { cursor.next < end }) break
            }
        } finally {
            leave(cursor)
        }
    }

    /** Waits until a condition, which an event may make true, is true, or the session is over. Uses no event up. */
    suspend fun until(condition: () -> Boolean) {
        while (!condition()) {
            val seen = synchronized(lock) { end }
            if (!pull { seen < end }) return
        }
    }

    /** Closes the session. The flows end after what was taken from it. */
    fun close() {
        synchronized(lock) {
            if (isClosed) return
            isClosed = true
            isOver = true
            // A coroutine that waits holds the native session, which leaves by itself only when it is freed.
            native { session.leave() }
            session.close()
        }
        space.trySend(Unit)
    }

    private val end: Long get() = first + waiting.size

    private fun enter(): Cursor =
        synchronized(lock) {
            Cursor(if (cursors.isEmpty()) first else end).also { cursors += it }
        }

    private fun leave(cursor: Cursor) {
        synchronized(lock) {
            cursors -= cursor
            // What the last collector has not taken waits for the next one.
            if (cursors.isEmpty()) dropBefore(cursor.next) else trim()
        }
        space.trySend(Unit)
    }

    private fun take(cursor: Cursor): Event? {
        val event =
            synchronized(lock) {
                if (cursor.next >= end) return null
                waiting[(cursor.next - first).toInt()].also {
                    cursor.next++
                    trim()
                }
            }
        space.trySend(Unit)
        return event
    }

    private fun trim() = dropBefore(cursors.minOf { it.next })

    private fun dropBefore(number: Long) {
        while (first < number && waiting.isNotEmpty()) {
            waiting.removeFirst()
            first++
        }
    }

    /** Waits until `isThere`; returns false if the session is over before. */
    private suspend fun pull(isThere: () -> Boolean): Boolean =
        pulling.withLock {
            while (true) {
                var isFull = false
                synchronized(lock) {
                    if (isThere()) return true
                    if (isOver) return false
                    isFull = waiting.size >= MOST_WAITING
                    if (!isFull) poll()
                    if (isThere()) return true
                    if (isOver) return false
                }
                if (isFull) space.receive() else native { session.ready() }
            }
            @Suppress("UNREACHABLE_CODE")
            false
        }

    private fun poll() {
        for (event in native { session.poll(BATCH.toUInt()) }) {
            waiting += event
            if (event is Event.Failed && event.fatal) fatal = event.failure
            val code = (event as? Event.Failed)?.failure?.code
            if (code == Code.EXPIRED || code == Code.REVOKED) tokenFailure = event.failure
            if (event is Event.StatusChanged && event.status == Status.CLOSED) isOver = true
        }
    }
}
