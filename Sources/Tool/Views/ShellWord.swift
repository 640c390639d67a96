internal import Base

/// The text as one word of a POSIX shell, in quotes if it needs them.
package func shellQuoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
        byte.isASCIILetter || byte.isASCIIDigit || "/._-+:@%,=".utf8.contains(byte)
    }
    if isPlain, !text.isEmpty { return text }
    return "'"
        + text.split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: "'\\''") + "'"
}
