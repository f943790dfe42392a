package groupwire

import kotlinx.coroutines.CancellationException

/**
 * An error. Its message says what is wrong and what to do.
 *
 * [code] is for programs, [Failure.word] of [failure] for logs. Wrong arguments are
 * [InvalidArgumentException]; everything else is this class, told apart by the code.
 */
public open class GroupwireException internal constructor(
    /** What is wrong. */
    public val failure: Failure,
) : RuntimeException("${failure.text} (${failure.word})") {
    /** The kind of the error. */
    public val code: Code get() = failure.code

    /** The side that has to change something. */
    public val fault: Fault get() = failure.fault
}

/** An argument is wrong or above a limit: the message names it and says what is right. */
public class InvalidArgumentException internal constructor(failure: Failure) : GroupwireException(failure)

/** The room ended, was left, or never took this participant in. */
public class ClosedException internal constructor(failure: Failure) : GroupwireException(failure)

/** The server refused: the token, the user or the participant's rights do not suffice. */
public class RefusedException internal constructor(failure: Failure) : GroupwireException(failure)

/** The exception for a failure that an event told. */
public fun Failure.toException(): GroupwireException =
    when (code) {
        Code.INVALID_ARGUMENT, Code.INVALID_QOS, Code.INVALID_COMPRESS, Code.INVALID_TEXT, Code.TOO_LARGE,
        Code.TOO_MANY, Code.UNKNOWN_CHANNEL, Code.BAD_NAME, Code.BAD_KEY, Code.NOT_JSON, Code.BAD_ARGUMENT,
        -> InvalidArgumentException(this)
        Code.CLOSED, Code.REPLACED -> ClosedException(this)
        Code.REFUSED, Code.NOT_ALLOWED, Code.EXPIRED, Code.REVOKED, Code.BANNED, Code.OVER_QUOTA -> RefusedException(this)
        else -> GroupwireException(this)
    }

/** Calls the native library, and makes our exceptions of its. */
internal inline fun <T> native(call: () -> T): T =
    try {
        call()
    } catch (failed: SessionException.Failed) {
        throw failed.failure.toException()
    } catch (cancelled: CancellationException) {
        // It is an IllegalStateException, too.
        throw cancelled
    } catch (_: IllegalStateException) {
        // What the generated code throws for an object that was closed.
        throw closed()
    }

internal fun closed(): GroupwireException =
    Failure(Code.CLOSED, 102u, "closed", Fault.OWN, "the session is over: connect again").toException()

internal fun invalid(text: String): GroupwireException =
    Failure(Code.INVALID_ARGUMENT, 100u, "invalid-argument", Fault.OWN, text).toException()
