internal import Base
package import Logins
internal import Traffic

/// Where the secrets of logins stand in what a client said: what is reported of a dialogue is hidden
/// in it by the same readers.
package struct LoginRanges {
    /// One of the sequences of bytes that a connection's messages make.
    struct Stream: Hashable {
        let exchange: Int64?
        /// Whether it is made of messages, as those of a WebSocket, and not of pieces.
        let isMessages: Bool
    }

    private var ranges: [Stream: [Range<Int>]] = [:]
    /// How much of each has passed.
    private var passed: [Stream: Int] = [:]

    /// - Parameter messages: all of a connection, or of one of its exchanges.
    package init(_ messages: GatheredMessages) {
        add(messages.conversation(of: nil), exchange: nil)
        for id in messages.exchanges { add(messages.conversation(of: id), exchange: id) }
    }

    private mutating func add(_ conversation: GatheredMessages.Conversation?, exchange: Int64?) {
        guard let logins = conversation?.logins, !logins.isEmpty, let conversation else { return }
        let streams = [
            (conversation.client, conversation.origin, false),
            (conversation.joined(.request), conversation.joined(.response), true),
        ]
        for (client, origin, isMessages) in streams where !client.isEmpty {
            let found = ClearLoginReader.logins(client: client, origin: origin)
            guard !found.isEmpty else { continue }
            ranges[Stream(exchange: exchange, isMessages: isMessages)] = Self.ranges(
                of: found, client: client, origin: origin)
        }
    }

    /// Masks the next part of what a client said.
    ///
    /// - Parameter bytes: the part's own, or a start of them.
    mutating func redact(_ bytes: [UInt8], of part: MessageRecord) -> [UInt8] {
        let stream = Stream(exchange: part.exchange, isMessages: part.kind != .segment)
        guard let ranges = ranges[stream], !ranges.isEmpty else { return bytes }
        let start = passed[stream, default: 0]
        // A foreign capture may have a part whose content stands elsewhere, and is shorter.
        let end = start + min(bytes.count, part.bytes.count)
        passed[stream] = start + part.bytes.count
        var result: [UInt8] = []
        var place = start
        for range in ranges where range.upperBound > start && range.lowerBound < end {
            let first = max(place, range.lowerBound)
            result += bytes[(place - start)..<(first - start)]
            // Once, whatever pieces it came in.
            if range.lowerBound >= start { result += redactionMark }
            place = min(end, max(first, range.upperBound))
        }
        return result + bytes[(place - start)...]
    }

    /// Where each secret stands: as it is, or in Base64; all up to the last login where it is
    /// neither, as one that was typed with corrections.
    private static func ranges(
        of logins: [ClearLogin], client: [UInt8], origin: [UInt8]
    ) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var words: [(range: Range<Int>, plain: [UInt8])]?
        for login in logins {
            var own = client.places(of: login.secret)
            if words == nil { words = encodedWords(client) }
            for word in words ?? [] where word.plain.contains(run: login.secret) {
                own.append(word.range)
            }
            if own.isEmpty {
                return [0..<end(of: logins.count, client, origin)]
            }
            found += own
        }
        return found.sorted { $0.lowerBound < $1.lowerBound }.merged
    }

    /// Runs of the characters of Base64, with what they hold.
    private static func encodedWords(_ bytes: [UInt8]) -> [(range: Range<Int>, plain: [UInt8])] {
        var words: [(Range<Int>, [UInt8])] = []
        var start = 0
        while start < bytes.count, words.count < wordLimit {
            let end = bytes[start...].firstIndex { !isEncoded($0) } ?? bytes.count
            if end - start >= 4, let plain = Base64.decode(bytes[start..<end]) {
                words.append((start..<end, plain))
            }
            start = end + 1
        }
        return words
    }

    private static func isEncoded(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || [0x2B, 0x2F, 0x3D, 0x2D, 0x5F].contains(byte)
    }

    /// How much of what the client said has all logins in it.
    private static func end(of count: Int, _ client: [UInt8], _ origin: [UInt8]) -> Int {
        var (low, high) = (0, client.count)
        while low < high {
            let middle = (low + high) / 2
            let found = ClearLoginReader.logins(client: Array(client[..<middle]), origin: origin)
            if found.count >= count { high = middle } else { low = middle + 1 }
        }
        return high
    }

    private static let wordLimit = 65_536
}

extension [UInt8] {
    /// Where some bytes stand; of few, where they are a word of their own.
    fileprivate func places(of run: [UInt8]) -> [Range<Int>] {
        var places: [Range<Int>] = []
        var start = 0
        while let place = firstIndex(ofRun: run, from: start) {
            let range = place..<place + run.count
            start = range.upperBound
            if run.count >= 4 || isWord(range) { places.append(range) }
        }
        return places
    }

    private func isWord(_ range: Range<Int>) -> Bool {
        func isPart(_ index: Int) -> Bool {
            indices.contains(index) && (self[index].isASCIILetter || self[index].isASCIIDigit)
        }
        return !isPart(range.lowerBound - 1) && !isPart(range.upperBound)
    }
}

extension [Range<Int>] {
    /// In order, with those in one that touch each other.
    fileprivate var merged: [Range<Int>] {
        reduce(into: []) { result, range in
            if let last = result.last, last.upperBound >= range.lowerBound {
                let end = Swift.max(last.upperBound, range.upperBound)
                result[result.count - 1] = last.lowerBound..<end
            } else {
                result.append(range)
            }
        }
    }
}
