internal import Base

/// What a reader made of an input, as a digest: two ways of cutting the same bytes into reads must
/// lead to the same one.
///
/// Content is digested byte for byte, so that it does not matter in how many pieces it was told.
package struct Transcript {
    package private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    /// What was noted, for people; `nil` unless it is wanted.
    package private(set) var lines: [String]?
    private var content: [UInt8] = []

    /// - Parameter isKept: whether `lines` is wanted, which costs far more than the digest.
    package init(isKept: Bool = false) {
        lines = isKept ? [] : nil
    }

    package mutating func note(_ event: StaticString, _ numbers: Int...) {
        mix(256)
        event.withUTF8Buffer { text in
            for index in text.indices { mix(UInt64(unsafe text[index])) }
        }
        mix(257)
        for number in numbers { mix(UInt64(bitPattern: Int64(number))) }
        guard lines != nil else { return }
        flush()
        let line = ([event.description] + numbers.map(String.init)).joined(separator: " ")
        lines?.append(line)
    }

    package mutating func note(_ event: StaticString, _ bytes: some Collection<UInt8>) {
        note(event)
        for byte in bytes { mix(UInt64(byte)) }
        guard lines != nil else { return }
        let line = "    " + shown(bytes)
        lines?.append(line)
    }

    package mutating func note(_ event: StaticString, text: String) {
        note(event, text.utf8)
    }

    /// Notes bytes of a content that may be told in any number of pieces.
    package mutating func append(_ bytes: Span<UInt8>) {
        for index in bytes.indices { mix(UInt64(bytes[index])) }
        guard lines != nil else { return }
        for index in bytes.indices { content.append(bytes[index]) }
    }

    /// The lines with the content that is not followed by an event.
    package mutating func finish() {
        guard lines != nil else { return }
        flush()
    }

    private mutating func flush() {
        guard !content.isEmpty else { return }
        let line = "    content: " + shown(content)
        lines?.append(line)
        content = []
    }

    private mutating func mix(_ value: UInt64) {
        digest = (digest ^ value) &* 0x0000_0100_0000_01B3
        digest ^= digest >> 29
    }

    private func shown(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes.prefix(512), as: UTF8.self).debugDescription
            + (bytes.count > 512 ? " … \(bytes.count) bytes" : "")
    }
}
