// Plays a participant with the Kotlin client. conformance/README.md has the commands.

import groupwire.Channel
import groupwire.Event
import groupwire.GroupwireException
import groupwire.Message
import groupwire.Outcome
import groupwire.Presence
import groupwire.Room
import groupwire.Shared
import groupwire.awareness
import groupwire.string
import groupwire.transactions
import java.util.Locale
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext

public fun main(): Unit =
    runBlocking {
        val driver = Driver(this)
        while (true) {
            val line = withContext(Dispatchers.IO) { readlnOrNull() } ?: break
            println(driver.run(Command(line)))
        }
        driver.end()
    }

/** A participant and what it has seen. */
private class Driver(private val scope: CoroutineScope) {
    private lateinit var room: Room
    private lateinit var data: Shared
    private val channels = HashMap<String, Channel>()
    private val names = HashMap<UInt, String>()
    private val noted = ArrayList<String>()
    private val receipts = HashMap<UInt, CompletableDeferred<Outcome>>()
    private var lastTag = 0u

    suspend fun run(command: Command): String =
        try {
            answer(command) ?: "{}"
        } catch (error: GroupwireException) {
            jsonOf("error" to quoted(error.failure.word), "text" to quoted(error.failure.text))
        }

    fun end() {
        if (::room.isInitialized) room.close()
    }

    private suspend fun answer(command: Command): String? {
        when (val name = command.text("do")) {
            "hello" -> return jsonOf("language" to quoted("Kotlin"), "can" to "[\"shared\"]")
            "join" -> return join(command)
            "open" -> open(command)
            "send" -> return jsonOf("sent" to quoted(word(send(command))))
            "sendTo" -> return jsonOf("outcome" to quoted(word(sendTo(command))))
            "confirm" -> room.confirmed()
            "presence" -> room.setPresence(command.text("presence").encodeToByteArray())
            "token" -> room.setToken(command.text("token"))
            "state" -> return state()
            "events" -> return jsonOf("events" to noted.joinToString(",", "[", "]")).also { noted.clear() }
            "leave" -> room.leave()
            "share" -> data = room.shared()
            "data" -> return shared()
            else -> change(name, command)
        }
        return null
    }

    private suspend fun join(command: Command): String {
        val presence = command.textOrNull("presence").orEmpty().encodeToByteArray()
        room = Room.connect(command.text("url"), command.text("room"), command.textOrNull("token").orEmpty(), presence)
        scope.launch { room.events.collect(::note) }
        return jsonOf("id" to room.joined().toString())
    }

    private fun open(command: Command) {
        val qos = if (command.textOrNull("kind") == "awareness") awareness() else transactions()
        val channel = room.channel(command.text("channel"), qos)
        channels[channel.name] = channel
        names[channel.id] = channel.name
    }

    private fun send(command: Command) =
        channels.getValue(command.text("channel"))
            .send(command.text("text"), command.textOrNull("key")?.encodeToByteArray())

    private suspend fun sendTo(command: Command): Outcome {
        val tag = ++lastTag
        val receipt = CompletableDeferred<Outcome>()
        receipts[tag] = receipt
        channels.getValue(command.text("channel")).sendTo(command.number("to").toUInt(), command.text("text"), tag)
        return receipt.await()
    }

    private fun state(): String {
        val people = room.participants.joinToString(",", "[", "]") { one ->
            val away = (one.state == Presence.AWAY).toString()
            jsonOf("id" to "${one.id}", "away" to away, "presence" to quoted(one.presence.decodeToString()))
        }
        val (status, pending) = quoted(word(room.status)) to room.pending.toString()
        return jsonOf("id" to "${room.participant}", "status" to status, "pending" to pending, "people" to people)
    }

    private fun note(event: Event) {
        when (event) {
            is Event.StatusChanged -> note("status", "status" to word(event.status))
            is Event.Gap -> note("gap", "reason" to word(event.reason))
            is Event.Failed -> note("error", "code" to event.failure.word)
            is Event.TokenWanted -> note("token")
            is Event.Received -> note("message", event.message)
            is Event.ReceivedDirect -> note("direct", event.message)
            is Event.Receipt -> receipts.remove(event.tag)?.complete(event.outcome)
            else -> Unit
        }
    }

    private fun note(event: String, vararg members: Pair<String, String>) {
        val texts = members.map { (name, value) -> name to quoted(value) }
        noted += jsonOf("event" to quoted(event), *texts.toTypedArray())
    }

    private fun note(event: String, message: Message) {
        val key = message.key?.let { arrayOf("key" to quoted(it.decodeToString())) } ?: emptyArray()
        noted += jsonOf(
            "event" to quoted(event),
            "channel" to quoted(names.getValue(message.channel)),
            "text" to quoted(message.string),
            "sender" to "${message.sender}",
            "own" to "${message.own}",
            "state" to "${message.state}",
            *key,
        )
    }

    private fun shared(): String =
        jsonOf(
            "shapes" to data.map("shapes").json,
            "texts" to data.list("texts").json,
            "likes" to "${data.counter("likes").value}",
            "holder" to "${data.lock("pen").holder ?: 0u}",
            "isMine" to "${data.lock("pen").isMine}",
            "turns" to data.turns("game").participants.joinToString(",", "[", "]"),
            "pending" to "${data.state.pending}",
        )

    private fun change(name: String, command: Command) {
        val (shapes, texts) = data.map("shapes") to data.list("texts")
        when (name) {
            "put" -> shapes[command.text("key")] = command.text("value")
            "patch" -> shapes.patch(command.text("key"), command.text("value"))
            "remove" -> shapes.remove(command.text("key"))
            "push" -> texts.add(command.text("value"))
            "insert" -> texts.insert(command.number("at").toInt(), command.text("value"))
            "change" -> texts[item(command)] = command.text("value")
            "move" -> texts.move(item(command), command.number("place").toInt())
            "delete" -> texts.remove(item(command))
            "add" -> data.counter("likes").add(command.number("by"))
            "group" -> data.batch {
                shapes[command.text("key")] = command.text("value")
                data.counter("likes").add(command.number("by"))
            }
            "undo" -> data.undo()
            "redo" -> data.redo()
            "acquire" -> data.lock("pen").acquire()
            "release" -> data.lock("pen").release()
            "joinTurns" -> data.turns("game").join()
            "leaveTurns" -> data.turns("game").leave()
            "nextTurn" -> data.turns("game").next()
            else -> throw IllegalArgumentException("no such command: $name")
        }
    }

    private fun item(command: Command): String = data.list("texts").ids[command.number("at").toInt()]

    /** The word of a value: NOT_NOW is `not-now`. */
    private fun word(value: Enum<*>): String = value.name.lowercase(Locale.ROOT).replace('_', '-')
}
