// Checks of the Kotlin client against a real server, which scripts/test-kotlin.mjs starts. This program asks it
// to do things by lines on the standard output, such as "restart", and reads "done" when they are done.

import groupwire.ClosedException
import groupwire.Code
import groupwire.Event
import groupwire.Fault
import groupwire.GapReason
import groupwire.GroupwireException
import groupwire.InvalidArgumentException
import groupwire.Outcome
import groupwire.RefusedException
import groupwire.Room
import groupwire.Status
import groupwire.awareness
import groupwire.string
import groupwire.voice
import java.io.File
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.filterIsInstance
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull

/** No check takes more than seconds; where other programs have the processors, minutes. */
private val PATIENCE = 10.minutes

/** Rooms that are opened and closed, first for warming up, then to see whether anything grows. */
private const val ROOMS = 200

private lateinit var url: String
private lateinit var guarded: String
private lateinit var expired: String
private lateinit var valid: String

public fun main(arguments: Array<String>) {
    url = arguments[0]
    guarded = arguments[1]
    expired = arguments[2]
    valid = arguments[3]
    check("messages go both ways between Kotlin and Node") { bothWays() }
    check("two participants see each other, and a direct message has a receipt") { participants() }
    check("what nobody collects waits, and first() uses up one event") { waiting() }
    check("collectors at the same time get the same events") { together() }
    check("a cancelled collector leaves the room as it was") { cancelled() }
    check("a keyed value of awareness arrives") { awarenessArrives() }
    check("a restarted server is a gap, and what is sent then is confirmed") { gap() }
    check("a closed room ends its flows and refuses to send") { closed() }
    check("an expired and a malformed token are exceptions, a valid one is not") { tokens() }
    check("wrong arguments are exceptions with a code") { wrongArguments() }
    check("$ROOMS rooms leave nothing behind") { growth() }
    println("all checks passed")
    // Dispatchers' threads are daemons, but a check that failed to end must not keep this process.
    exitProcess(0)
}

private suspend fun bothWays() {
    Room.connect(url, "both-ways").use { room ->
        val chat = room.channel("chat")
        room.joined()
        ask("peer both-ways")
        chat.send("grüße from Kotlin")
        chat.send(byteArrayOf(0, 1, -1))
        room.confirmed()
        // The peer answers each message with the same content after "echo".
        val echoes = chat.messages.take(5).toList().filter { !it.own }
        val texts = echoes.filter { it.text }.map { it.string }
        same(texts, listOf("hello from Node", "echo grüße from Kotlin"))
        same(echoes.filter { !it.text }.map { it.bytes.toList() }, listOf(listOf<Byte>(0, 1, -1)))
        ask("leave")
    }
}

private suspend fun participants() {
    Room.connect(url, "two", presence = "Ann".encodeToByteArray()).use { ann ->
        Room.connect(url, "two", presence = "Bob".encodeToByteArray()).use { bob ->
            val (annChat, bobChat) = ann.channel("chat") to bob.channel("chat")
            val (annId, bobId) = ann.joined() to bob.joined()
            require(annId != bobId) { "both have number $annId" }
            val came = ann.events.filterIsInstance<Event.ParticipantChanged>().first { it.participant.id == bobId }
            same(came.participant.presence.decodeToString(), "Bob")
            same(ann.participants.map { it.id }, listOf(bobId))
            bobChat.send("opens the channel")
            bob.confirmed()
            annChat.sendTo(bobId, "psst", tag = 7u)
            same(bobChat.direct.first().string, "psst")
            val receipt = ann.events.filterIsInstance<Event.Receipt>().first()
            same(receipt, Event.Receipt(annChat.id, bobId, 7u, Outcome.DELIVERED))
        }
    }
}

private suspend fun waiting() {
    Room.connect(url, "waiting").use { room ->
        val chat = room.channel("chat")
        repeat(200) { chat.send("message $it") }
        room.confirmed()
        same(room.pending, 0uL)
        val texts = chat.messages.take(1).toList() + listOf(chat.messages.first()) + chat.messages.take(198).toList()
        same(texts.map { it.string }, List(200) { "message $it" })
        require(texts.all { it.own && it.position > 0uL }) { "a message has no place in the order" }
    }
}

private suspend fun together() {
    Room.connect(url, "together").use { room ->
        val chat = room.channel("chat")
        room.joined()
        withContext(Dispatchers.Default) {
            // Undispatched: all collect before anything is sent.
            val all =
                List(5) {
                    async(start = CoroutineStart.UNDISPATCHED) { chat.messages.map { it.string }.take(100).toList() }
                }
            repeat(100) { chat.send("$it") }
            all.awaitAll().forEach { same(it, List(100) { number -> "$number" }) }
        }
    }
}

private suspend fun cancelled() {
    Room.connect(url, "cancelled").use { room ->
        val chat = room.channel("chat")
        room.joined()
        repeat(20) { round ->
            same(withTimeoutOrNull(1.milliseconds) { chat.messages.first() }, null)
            if (round % 5 == 0) {
                chat.send("round $round")
                same(chat.messages.first().string, "round $round")
            }
        }
    }
}

private suspend fun awarenessArrives() {
    Room.connect(url, "places").use { ann ->
        Room.connect(url, "places").use { bob ->
            val mine = ann.channel("place", awareness(maxRate = 25.0, deadline = 250.milliseconds))
            val theirs = bob.channel("place", awareness(maxRate = 25.0, deadline = 250.milliseconds))
            ann.joined()
            bob.joined()
            mine.send("here".encodeToByteArray(), key = byteArrayOf(1))
            val message = theirs.messages.first()
            same(message.bytes.decodeToString(), "here")
            same(message.key?.toList(), listOf<Byte>(1))
            same(theirs.qos.deadlineMs, 250uL)
        }
    }
}

private suspend fun gap() {
    Room.connect(url, "gap").use { room ->
        val chat = room.channel("chat")
        chat.send("before")
        room.confirmed()
        ask("restart")
        same(room.events.filterIsInstance<Event.Gap>().first().reason, GapReason.INCARNATION)
        chat.send("after")
        room.confirmed()
        same(room.stats.reconnects, 1uL)
    }
}

private suspend fun closed() {
    val room = Room.connect(url, "closed")
    val chat = room.channel("chat")
    chat.send("last words")
    withContext(Dispatchers.Default) {
        val statuses = async(start = CoroutineStart.UNDISPATCHED) { room.events.filterIsInstance<Event.StatusChanged>().map { it.status }.toList() }
        room.joined()
        room.leave()
        same(statuses.await().last(), Status.CLOSED)
    }
    val failed = fails<ClosedException> { chat.send("too late") }
    same(failed.code to failed.fault, Code.CLOSED to Fault.OWN)
    same(failed.message, "the session is over: connect again (closed)")
    fails<ClosedException> { room.confirmed() }
    same(room.events.toList(), emptyList())
    room.close()
    // A collector that waits when another coroutine closes the room ends, also without a server.
    for (address in listOf(url, "ws://127.0.0.1:9")) {
        val other = Room.connect(address, "closed")
        withContext(Dispatchers.Default) {
            val events = async(start = CoroutineStart.UNDISPATCHED) { other.events.toList() }
            if (address == url) other.joined()
            other.close()
            events.await()
        }
    }
}

private suspend fun tokens() {
    Room.connect(guarded, "tokens", token = valid).use { it.joined() }
    Room.connect(guarded, "tokens", token = expired).use { room ->
        same(fails<RefusedException> { room.joined() }.code, Code.EXPIRED)
        room.setToken(valid)
        room.joined()
    }
    Room.connect(guarded, "tokens", token = "nonsense").use { room ->
        same(fails<RefusedException> { room.joined() }.code, Code.REFUSED)
    }
}

private suspend fun wrongArguments() {
    val invalid = fails<InvalidArgumentException> { Room.connect("gopher://example.org", "x") }
    same(invalid.code, Code.INVALID_ARGUMENT)
    fails<InvalidArgumentException> { Room.connect(url, "x", trust = "certainly") }
    same(fails<GroupwireException> { Room.connect(url, "") }.failure.number in 1u..199u, true)
    same(fails<InvalidArgumentException> { Room.connect(url, "x".repeat(257)) }.code, Code.TOO_LARGE)
    same(fails<InvalidArgumentException> { Room.connect(url, "x", presence = ByteArray(4097)) }.code, Code.TOO_LARGE)
    fails<InvalidArgumentException> { awareness(deadline = (-1).seconds) }
    fails<InvalidArgumentException> { voice(speakers = 16) }
    Room.connect(url, "wrong").use { room ->
        for (qos in listOf(awareness(loss = 1.5), awareness(loss = Double.NaN), awareness(maxRate = -1.0))) {
            same(fails<InvalidArgumentException> { room.channel("c", qos) }.code, Code.INVALID_ARGUMENT)
        }
        same(fails<InvalidArgumentException> { room.channel("c", compress = "zip") }.code, Code.INVALID_COMPRESS)
        same(fails<InvalidArgumentException> { room.setPresence(ByteArray(5000)) }.code, Code.TOO_LARGE)
        same(fails<InvalidArgumentException> { room.channel("c").limitRate(Double.NaN) }.code, Code.INVALID_ARGUMENT)
        // The room is as it was.
        room.channel("c").send("fine")
        room.confirmed()
    }
}

private suspend fun growth() {
    suspend fun rooms(count: Int) {
        repeat(count) { number ->
            Room.connect(url, "growth").use { room ->
                val chat = room.channel("chat")
                chat.send("room $number")
                room.confirmed()
                chat.messages.first()
            }
        }
        settle()
    }
    rooms(ROOMS)
    val before = Footprint.now()
    rooms(ROOMS)
    var after = Footprint.now()
    // A room that was closed takes some time to go. What stays for good ends in a timeout.
    while (after.descriptors > before.descriptors) {
        settle()
        after = Footprint.now()
    }
    println("  before: $before; after: $after")
    // A dispatcher may have started another thread.
    require(after.threads <= before.threads + 2) { "threads grew" }
    // 50 KiB a room; a room that is not freed holds more than 300 KiB.
    require(after.residentKib < before.residentKib + ROOMS * 50) { "memory grew" }
}

/** Waits until the rooms that were closed have gone, and their memory is free. */
private suspend fun settle() {
    repeat(3) {
        System.gc()
        delay(300.milliseconds)
    }
}

private data class Footprint(val descriptors: Int, val threads: Int, val residentKib: Int) {
    companion object {
        fun now(): Footprint {
            val status = File("/proc/self/status").readLines()
            fun number(name: String) = status.first { it.startsWith("$name:") }.filter(Char::isDigit).toInt()
            return Footprint(File("/proc/self/fd").list().orEmpty().size, number("Threads"), number("VmRSS"))
        }
    }
}

private fun check(what: String, body: suspend () -> Unit) {
    try {
        runBlocking { withTimeout(PATIENCE) { body() } }
    } catch (error: Throwable) {
        println("failed: $what")
        error.printStackTrace(System.out)
        exitProcess(1)
    }
    println("check: $what")
}

private fun ask(what: String) {
    println("ask: $what")
    val answer = readlnOrNull()
    require(answer == "done") { "$what was answered with $answer" }
}

private fun <T> same(found: T, expected: T) =
    require(found == expected) { "expected $expected, found $found" }

private suspend inline fun <reified E : Throwable> fails(crossinline body: suspend () -> Unit): E {
    try {
        body()
    } catch (error: Throwable) {
        return error as? E ?: throw error
    }
    throw AssertionError("nothing failed")
}
