package groupwire

import kotlin.time.Duration
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.mapNotNull

/** A channel of a room. */
public class Channel internal constructor(
    private val room: Room,
    private val session: Session,
    /** The number of the channel in its room, by which events name it. */
    public val id: UInt,
    /** The name. */
    public val name: String,
) {
    /** The messages, own ones among them. For several channels at a time collect [Room.events]. */
    public val messages: Flow<Message>
        get() = room.events.mapNotNull { (it as? Event.Received)?.message?.takeIf(::isMine) }

    /** The messages to one participant: to this one, or own ones to another. */
    public val direct: Flow<Message>
        get() = room.events.mapNotNull { (it as? Event.ReceivedDirect)?.message?.takeIf(::isMine) }

    /** The QoS in force; until the server answers, the one that was asked for. Setting asks the server. */
    public var qos: Qos
        get() = native { session.qos(id) }
        set(value) = native { session.setQos(id, value) }

    /** Whether the channel's contract is kept; null before it is open. */
    public val contract: Contract? get() = native { session.contract(id) }

    /** The traffic of this channel. */
    public val stats: ChannelStats get() = native { session.channelStats(id) }

    /**
     * Sends text.
     *
     * @return [Sent.NOT_NOW] if too many messages wait: try again after [Event.Drain].
     */
    public fun send(text: String, key: ByteArray? = null, priority: UByte? = null): Sent =
        native { session.send(id, text.encodeToByteArray(), SendOptions(true, key, priority, null)) }

    /**
     * Sends bytes.
     *
     * @return [Sent.NOT_NOW] if too many messages wait: try again after [Event.Drain].
     */
    public fun send(bytes: ByteArray, key: ByteArray? = null, priority: UByte? = null): Sent =
        native { session.send(id, bytes, SendOptions(false, key, priority, null)) }

    /** Sends to one participant; [Event.Receipt] with `tag` tells the outcome. */
    public fun sendTo(participant: UInt, text: String, tag: UInt = 0u): Sent =
        native { session.send(id, text.encodeToByteArray(), SendOptions(true, null, null, Recipient(participant, tag))) }

    /** Asks for at most this many values of each key per second, always the newest; 0 for all. */
    public fun limitRate(perSecond: Double): Unit = native { session.limitRate(id, perSecond) }

    /** Changes how messages are compressed between this participant and the server. */
    public fun setCompress(compress: String): Unit = native { session.setCompress(id, compress) }

    /** Ends this participant's part in the channel, after what waits on it was sent and confirmed. */
    public fun close(): Unit = native { session.closeChannel(id) }

    private fun isMine(message: Message) = message.channel == id
}

/** The content of a message that was sent as text. */
public val Message.string: String get() = bytes.decodeToString()

/** Messages that must all arrive, once and in order. */
public fun transactions(): Qos = transactionQos()

/**
 * Values that newer ones replace.
 *
 * @param loss the share that may be lost or late, 0 to 1.
 * @param deadline after which a value is of no use; zero for never.
 * @param maxRate the highest useful rate in messages per second; 0 for no bound.
 */
public fun awareness(loss: Double = 0.05, deadline: Duration = Duration.ZERO, maxRate: Double = 0.0): Qos {
    if (deadline.isNegative()) throw invalid("`deadline` must be zero or more, not $deadline")
    return awarenessQos().copy(loss = loss, deadlineMs = deadline.inWholeMilliseconds.toULong(), maxRate = maxRate)
}

/**
 * Frames of sound, as `groupwire/voice` sends them (docs/voice.md). The first byte of a frame says how loud it is.
 *
 * @param speakers how many of the loudest senders the room passes on, 1 to 15.
 */
public fun voice(speakers: Int = 4): Qos {
    if (speakers !in 1..15) throw invalid("`speakers` must be 1 to 15, not $speakers")
    return voiceQos().copy(speakers = speakers.toUByte())
}
