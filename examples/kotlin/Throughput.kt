// How many transactions a second the Kotlin client carries from one room to another, and the processor time of
// each: throughput URL MESSAGES. scripts/bench-clients.mjs compares with other languages.

import groupwire.Event
import groupwire.Room
import groupwire.Sent
import java.lang.management.ManagementFactory
import kotlin.system.exitProcess
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.filter
import kotlinx.coroutines.flow.filterIsInstance
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

public fun main(arguments: Array<String>) {
    val count = arguments.getOrNull(1)?.toIntOrNull()
    if (arguments.size != 2 || count == null) {
        System.err.println("usage: throughput URL MESSAGES")
        exitProcess(2)
    }
    measure(arguments[0], count)
}

private fun measure(url: String, count: Int) = runBlocking(Dispatchers.Default) {
    val name = "throughput ${ProcessHandle.current().pid()}"
    Room.connect(url, name).use { sender ->
        Room.connect(url, name).use { receiver ->
            val channel = sender.channel("data")
            val received = receiver.channel("data")
            // From before the first message on, so that none is missed.
            val drained = Channel<Unit>(Channel.CONFLATED)
            val drains = launch { sender.events.filterIsInstance<Event.Drain>().collect { drained.send(Unit) } }
            val ready = Channel<Unit>(1)
            val seeing = launch {
                ready.send(Unit)
                received.messages.filter { !it.own }.take(count).collect {}
            }
            ready.receive()
            sender.joined()
            receiver.joined()
            val start = System.nanoTime()
            val cpu = processorSeconds()
            repeat(count) { number ->
                val text = "{\"number\":${number.toString().padStart(8)},\"text\":\"${"a value".padEnd(64)}\"}"
                while (channel.send(text) == Sent.NOT_NOW) drained.receive()
            }
            seeing.join()
            val seconds = (System.nanoTime() - start) / 1e9
            val each = (processorSeconds() - cpu) * 1e6 / count
            sender.confirmed()
            drains.cancel()
            val bytes = sender.stats.bytesOutAfter.toDouble() / count
            println("%.0f messages/s, %.2f us of processor time and %.2f bytes each".format(count / seconds, each, bytes))
        }
    }
}

/** The processor time of this process in seconds. */
private fun processorSeconds(): Double {
    val system = ManagementFactory.getOperatingSystemMXBean() as com.sun.management.OperatingSystemMXBean
    return system.processCpuTime / 1e9
}
