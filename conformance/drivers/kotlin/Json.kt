/** Reads the commands of the runner, which have no parts: texts, whole numbers and booleans. */
internal class Command(line: String) {
    private val members = HashMap<String, String>()
    private var rest = line.trim().removePrefix("{")

    init {
        while (!rest.startsWith("}")) {
            val name = text()
            drop(":")
            members[name] = if (rest.startsWith("\"")) text() else word()
            if (rest.startsWith(",")) drop(",")
        }
    }

    fun text(name: String): String = members[name] ?: throw IllegalArgumentException("the command has no $name")

    fun textOrNull(name: String): String? = members[name]

    fun number(name: String): Long = text(name).toLong()

    fun isSet(name: String): Boolean = members[name] == "true"

    private fun word(): String {
        val word = rest.takeWhile { it != ',' && it != '}' }
        rest = rest.drop(word.length)
        return word.trim()
    }

    private fun text(): String {
        drop("\"")
        val text = StringBuilder()
        var at = 0
        while (rest[at] != '"') {
            if (rest[at] != '\\') {
                text.append(rest[at++])
                continue
            }
            val escaped = rest[at + 1]
            at += 2
            when (escaped) {
                'n' -> text.append('\n')
                'r' -> text.append('\r')
                't' -> text.append('\t')
                'b' -> text.append('\b')
                'f' -> text.append('\u000c')
                'u' -> {
                    text.append(rest.substring(at, at + 4).toInt(16).toChar())
                    at += 4
                }
                else -> text.append(escaped)
            }
        }
        rest = rest.substring(at)
        drop("\"")
        return text.toString()
    }

    private fun drop(what: String) {
        rest = rest.trimStart()
        require(rest.startsWith(what)) { "the command has no $what where one is needed" }
        rest = rest.removePrefix(what).trimStart()
    }
}

/** A text as JSON. */
internal fun quoted(text: String): String =
    buildString {
        append('"')
        for (letter in text) {
            when {
                letter == '"' || letter == '\\' -> append('\\').append(letter)
                letter < ' ' -> append("\\u%04x".format(letter.code))
                else -> append(letter)
            }
        }
        append('"')
    }

/** A JSON object of members that are JSON. */
internal fun jsonOf(vararg members: Pair<String, String>): String =
    members.joinToString(",", "{", "}") { (name, value) -> "${quoted(name)}:$value" }
