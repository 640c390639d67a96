internal import Base

/// What two sides say in turn, in one input: before each turn stands a byte with the side in its
/// highest bit (1 for the origin) and the length below it.
enum Turns {
    struct Turn {
        let isClient: Bool
        let bytes: Range<Int>
    }

    static func read(_ bytes: [UInt8]) -> [Turn] {
        var turns: [Turn] = []
        var place = 0
        while place < bytes.count {
            let head = bytes[place]
            let end = min(bytes.count, place + 1 + Int(head & 0x7F))
            turns.append(Turn(isClient: head & 0x80 == 0, bytes: place + 1..<end))
            place = end
        }
        return turns
    }

    /// A seed; `>` in front of a text is for the client, `<` for the origin.
    static func seed(_ texts: String...) -> [UInt8] {
        var bytes: [UInt8] = []
        for text in texts {
            append(Array(text.utf8.dropFirst()), isClient: text.hasPrefix(">"), to: &bytes)
        }
        return bytes
    }

    static func append(_ said: [UInt8], isClient: Bool, to bytes: inout [UInt8]) {
        var place = 0
        while place < said.count {
            let end = min(said.count, place + 127)
            bytes.append(UInt8(end - place) | (isClient ? 0 : 0x80))
            bytes += said[place..<end]
            place = end
        }
    }
}
