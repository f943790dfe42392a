package groupwire

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.mapNotNull

/**
 * Shared data of a room. Own changes are seen at once; the room's order decides between those of several people.
 *
 * Values are JSON, as text: encode and decode them with the library of your choice. Wrong names, keys and values are
 * an [InvalidArgumentException], after which nothing has changed.
 */
public class Shared internal constructor(
    private val room: Room,
    private val session: Session,
    private val id: UInt,
    /** The name of its channel, and of its part of the room's snapshot. */
    public val name: String,
) {
    /** Whether it is complete, what is not confirmed, and whether something can be undone. */
    public val state: SharedState get() = native { session.sharedState(id) }

    /** What may have changed, also by this program. An empty list: only [state] has. */
    public val changes: Flow<List<SharedChange>>
        get() = room.events.mapNotNull { (it as? Event.SharedChanged)?.takeIf { change -> change.data == id }?.changes }

    /** The map with this name. */
    public fun map(name: String): SharedMap = SharedMap(session, id, name)

    /** The list with this name. */
    public fun list(name: String): SharedList = SharedList(session, id, name)

    /** The counter with this name. */
    public fun counter(name: String): SharedCounter = SharedCounter(session, id, name)

    /** The lock with this name. */
    public fun lock(name: String): SharedLock = SharedLock(room, session, id, name)

    /** The order of turns with this name. */
    public fun turns(name: String): SharedTurns = SharedTurns(session, id, name)

    /**
     * Makes one operation of all changes in `change`, which others see as a whole, and which is undone as a whole.
     * If it throws, nothing has changed.
     */
    public fun batch(change: () -> Unit) {
        native { session.beginBatch(id) }
        try {
            change()
        } catch (thrown: Throwable) {
            native { session.abortBatch(id) }
            throw thrown
        }
        native { session.endBatch(id) }
    }

    /** Undoes the last own operation that others have not overwritten; returns false if there is none. */
    public fun undo(): Boolean = native { session.undo(id) }

    /** Does the last undone operation again; returns false if there is none. */
    public fun redo(): Boolean = native { session.redo(id) }
}

/** A map from keys to values. */
public class SharedMap internal constructor(
    private val session: Session,
    private val data: UInt,
    /** The name. */
    public val name: String,
) {
    /** All keys and values, as a JSON object. */
    public val json: String get() = native { session.mapEntries(data, name) }

    /** The value of a key as JSON; null if there is none. */
    public operator fun get(key: String): String? = native { session.mapGet(data, name, key) }

    /** Sets the value of a key to this JSON. */
    public operator fun set(key: String, value: String): Unit = native { session.mapSet(data, name, key, value) }

    /** Sets fields of a value that is an object, and removes others. Does nothing if there is no such value. */
    public fun patch(key: String, fields: String, removed: List<String> = emptyList()): Unit =
        native { session.mapPatch(data, name, key, fields, removed) }

    /** Removes a key and its value. */
    public fun remove(key: String): Unit = native { session.mapDelete(data, name, key) }

    /** Shows others an unfinished change of a value's fields, without an operation; null ends it. It may be lost. */
    public fun preview(key: String, fields: String?): Unit = native { session.mapPreview(data, name, key, fields) }

    /** The value of a key with the previews of others applied, as JSON; null if there is none. */
    public fun previewed(key: String): String? = native { session.mapPreviewed(data, name, key) }
}

/** A list. Each item has an id, which stays when others insert, move and remove items. */
public class SharedList internal constructor(
    private val session: Session,
    private val data: UInt,
    /** The name. */
    public val name: String,
) {
    /** All values, as a JSON array. */
    public val json: String get() = native { session.listValues(data, name) }

    /** The ids of the items, in the order of the values. */
    public val ids: List<String> get() = native { session.listIds(data, name) }

    /** The value of an item as JSON; null if there is none. */
    public operator fun get(id: String): String? = native { session.listGet(data, name, id) }

    /** Replaces the value of an item. */
    public operator fun set(id: String, value: String): Unit = native { session.listSet(data, name, id, value) }

    /** Appends a value, and returns the item's id. */
    public fun add(value: String): String = native { session.listInsert(data, name, ULong.MAX_VALUE, value) }

    /** Inserts a value at this index, or at the end if the list is shorter. Returns the item's id. */
    public fun insert(index: Int, value: String): String =
        native { session.listInsert(data, name, notNegative(index), value) }

    /** Moves an item to this index. */
    public fun move(id: String, index: Int): Unit = native { session.listMove(data, name, id, notNegative(index)) }

    /** Removes an item. */
    public fun remove(id: String): Unit = native { session.listDelete(data, name, id) }

    private fun notNegative(index: Int): ULong {
        if (index < 0) throw invalid("`index` has to be 0 or more, not $index")
        return index.toULong()
    }
}

/** A number to which everybody adds. */
public class SharedCounter internal constructor(
    private val session: Session,
    private val data: UInt,
    /** The name. */
    public val name: String,
) {
    /** The sum of all that was added. */
    public val value: Long get() = native { session.counterValue(data, name) }

    /** Adds to it. */
    public fun add(difference: Long): Unit = native { session.counterAdd(data, name, difference) }
}

/** A lock, which one participant holds at a time. It is free again when its holder has left the room. */
public class SharedLock internal constructor(
    private val room: Room,
    private val session: Session,
    private val data: UInt,
    /** The name. */
    public val name: String,
) {
    /** The participant that holds it; null if it is free. */
    public val holder: UInt? get() = native { session.lockHolder(data, name) }

    /** True if this participant holds it. */
    public val isMine: Boolean get() = holder?.let { it == room.participant } ?: false

    /** Asks for the lock, or waits for it in the order in which it was asked for. */
    public fun acquire(): Unit = native { session.lockAcquire(data, name) }

    /** Gives the lock up. */
    public fun release(): Unit = native { session.lockRelease(data, name) }
}

/** Participants that take turns. */
public class SharedTurns internal constructor(
    private val session: Session,
    private val data: UInt,
    /** The name. */
    public val name: String,
) {
    /** The participants in their order; the first one has the turn. */
    public val participants: List<UInt> get() = native { session.turnsParticipants(data, name) }

    /** Takes part, at the end. */
    public fun join(): Unit = native { session.turnsJoin(data, name) }

    /** Takes part no longer. */
    public fun leave(): Unit = native { session.turnsLeave(data, name) }

    /** Passes the turn on to the next participant. */
    public fun next(): Unit = native { session.turnsNext(data, name) }
}
