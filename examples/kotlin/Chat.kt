// A chat in a terminal: what you type goes to everybody in the room (README.md says how to run it).

import groupwire.Change
import groupwire.Event
import groupwire.GroupwireException
import groupwire.Room
import groupwire.string
import groupwire.toException
import kotlin.system.exitProcess
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext

public fun main(arguments: Array<String>) {
    if (arguments.size != 3) {
        System.err.println("usage: chat URL ROOM NAME, such as: chat ws://127.0.0.1:8080 demo Ann")
        exitProcess(2)
    }
    val (url, name, me) = arguments
    try {
        chat(url, name, me)
    } catch (error: GroupwireException) {
        System.err.println("chat: ${error.message}")
        exitProcess(1)
    }
}

private fun chat(url: String, name: String, me: String) = runBlocking {
    Room.connect(url, name, presence = me.encodeToByteArray()).use { room ->
        val chat = room.channel("chat")
        val shown = launch { show(room) }
        room.joined()
        println("* you are in room $name")
        while (true) {
            // Another thread reads the keyboard, so that messages are shown meanwhile.
            val line = withContext(Dispatchers.IO) { readlnOrNull() } ?: break
            if (line.isNotEmpty()) chat.send(line)
        }
        // Waits until the last line is confirmed.
        room.leave()
        shown.join()
    }
}

private suspend fun show(room: Room) {
    val names = HashMap<UInt, String>()
    room.events.collect { event ->
        when (event) {
            is Event.ParticipantChanged -> {
                val (id, _, _, presence) = event.participant
                names[id] = presence.decodeToString()
                if (event.change == Change.CAME) println("* ${names[id]} is here")
                if (event.change == Change.LEFT) println("* ${names[id]} left")
            }
            is Event.Received -> {
                val message = event.message
                // Own messages come back when they have their place in the order.
                println("${if (message.own) "you" else names[message.sender] ?: "somebody"}: ${message.string}")
            }
            is Event.Gap -> println("* some messages are lost (${event.reason})")
            is Event.Failed -> if (event.fatal) throw event.failure.toException()
            else -> Unit
        }
    }
}
