internal import Base
internal import Traffic

/// What a recorded client said before the origin's next word.
struct ClientTurn {
    /// The index of the line behind it.
    let end: Int
    /// How long it took the client to say it, in milliseconds.
    let duration: UInt64
    private let expected: [UInt8]
    /// How many lines it is; 0 for bytes that are no lines.
    private let lineCount: Int
    /// How many lines, and how many bytes, the client had said before.
    private let before: (lines: Int, bytes: Int)

    /// - Parameters:
    ///   - lines: those that are left of the script.
    ///   - earlier: the turn before this one.
    init(_ lines: ArraySlice<DialogueScript.Line>, after earlier: ClientTurn?) {
        let own = lines.prefix { $0.direction == .request }
        end = own.endIndex
        expected = own.reduce(into: []) { $0 += $1.bytes }
        lineCount = expected.last == 0x0A ? expected.count { $0 == 0x0A } : 0
        let first = own.first?.due ?? 0
        duration = UInt64(clamping: ((own.last?.due ?? first) - first) / 1000)
        before = (
            (earlier?.before.lines ?? 0) + (earlier?.lineCount ?? 0),
            (earlier?.before.bytes ?? 0) + (earlier?.expected.count ?? 0)
        )
    }

    /// Where it stands in what the client says.
    var name: String {
        lineCount > 0 ? "line \(before.lines + 1)" : "what was recorded at byte \(before.bytes)"
    }

    /// Takes as much as there was from what is heard: as many lines, however long each is, or as
    /// many bytes.
    ///
    /// - Returns: `nil` while not all of it is there.
    func split(from heard: inout [UInt8]) -> [UInt8]? {
        let end = lineCount > 0 ? heard.end(ofLine: lineCount) : expected.count
        guard let end, heard.count >= end else { return nil }
        defer { heard.removeFirst(end) }
        return Array(heard.prefix(end))
    }

    /// Whether what is heard is, so far, what was recorded.
    func begins(with heard: [UInt8]) -> Bool {
        expected.starts(with: heard)
    }

    /// The first thing that is not as it was, in words without anything of what was said.
    ///
    /// - Parameters:
    ///   - lines: the whole script.
    ///   - tags: the words that a client begins its lines with and an origin its answers, as IMAP's
    ///     do: what was recorded, with what it is now. New ones are added.
    func difference(
        _ said: [UInt8], _ lines: [DialogueScript.Line], _ tags: inout [[UInt8]: [UInt8]]
    ) -> String? {
        guard said != expected else { return nil }
        if lineCount == 0 {
            let place = zip(said, expected).prefix { $0 == $1 }.count
            return "the client's byte \(before.bytes + place) is not as recorded"
        }
        for (index, pair) in zip(said.lines, expected.lines).enumerated() where pair.0 != pair.1 {
            let (now, then) = pair
            let (word, known) = (now.firstWord, then.firstWord)
            let isSameWord = word.map(\.asciiLowercased) == known.map(\.asciiLowercased)
            if isSameWord, Self.greetings.contains(word.map(\.asciiLowercased).text) { continue }
            if now[word.endIndex...] == then[known.endIndex...], word.endIndex < now.endIndex,
                isEchoed(known, lines[end...])
            {
                if tags.count < Self.tagLimit { tags[Array(known)] = Array(word) }
                continue
            }
            let command = isSameWord && word.isCommand ? " (\(word.text))" : ""
            return "the client's line \(before.lines + index + 1)\(command) is not as recorded:"
                + " \(now.count) bytes, \(then.count) then"
        }
        return nil
    }

    /// Whether the origin's next lines begin with the word.
    private func isEchoed(
        _ word: ArraySlice<UInt8>, _ rest: ArraySlice<DialogueScript.Line>
    ) -> Bool {
        rest.prefix { $0.direction == .response }.contains { line in
            line.bytes.lines.contains { $0.firstWord == word }
        }
    }

    /// Behind these the client names itself, and is another machine today.
    private static let greetings: Set<String> = ["ehlo", "helo", "lhlo"]
    private static let tagLimit = 100_000
}

extension Collection<UInt8> where Self == ArraySlice<UInt8> {
    /// Up to the first space.
    var firstWord: ArraySlice<UInt8> { prefix { $0 != 0x20 } }

    /// Whether it is a word such as `PASS`, which may be shown.
    fileprivate var isCommand: Bool {
        (3...10).contains(count) && allSatisfy { 0x41...0x5A ~= $0 & 0xDF }
    }
}

extension [UInt8] {
    /// Its lines without what ends them.
    fileprivate var lines: [ArraySlice<UInt8>] {
        split(separator: 0x0A).map { $0.last == 0x0D ? $0.dropLast() : $0 }
    }

    /// How many bytes the first lines are; `nil` if there are fewer.
    fileprivate func end(ofLine count: Int) -> Int? {
        var left = count
        return firstIndex { byte in
            if byte == 0x0A { left -= 1 }
            return left == 0
        }.map { $0 + 1 }
    }
}
