internal import Base
internal import DNS
internal import Logins
internal import Traffic

/// The names in what a client sent to name servers, or to everybody.
struct NamesAsked {
    /// Those of questions and records, in the order of their first place.
    private(set) var names: [DNSName] = []
    private var seen: Set<DNSName> = []

    /// Datagrams of one flow that are looked into.
    private static let messageLimit = 256
    private static let nameLimit = 256

    /// - Parameter withAnswers: whether what the client tells counts as well.
    init(_ view: MessageView, withAnswers: Bool) {
        for message in view.sentMessages(limit: Self.messageLimit) {
            var reader = DNSMessageReader(message.span)
            // What came before a violation counts.
            do throws(DNSViolation) { try reader.read() } catch {}
            for question in reader.message.questions { add(question.name) }
            guard withAnswers else { continue }
            for record in reader.message.answers + reader.message.authorities {
                add(record.name)
                if case .name(let name) = record.data { add(name) }
            }
        }
    }

    private mutating func add(_ name: DNSName) {
        guard !name.labels.isEmpty, names.count < Self.nameLimit, seen.insert(name).inserted else {
            return
        }
        names.append(name)
    }
}

extension MessageView {
    /// What the client sent in datagrams, or in a stream, each behind its length (RFC 7858 §3.3).
    fileprivate func sentMessages(limit: Int) -> [[UInt8]] {
        guard !client.isEmpty else {
            return messages.lazy.filter { $0.direction == .request }.prefix(limit).map(\.bytes)
        }
        let stream = sequence(state: ByteCursor(client[...])) { $0.vector(2).map { Array($0) } }
        return Array(stream.prefix(limit))
    }

    /// The names that a name server was asked for.
    var askedFields: [MessageField] {
        guard protocolName == .dns else { return [] }
        return NamesAsked(self, withAnswers: false).names.map {
            MessageField(
                container: messages.isEmpty ? .dialogue : .message, name: [],
                value: $0.lowercasedBytes)
        }
    }
}

extension DNSName {
    /// Its labels in lower case with dots between.
    var lowercasedBytes: [UInt8] {
        [UInt8](labels.joined(separator: [0x2E])).map(\.asciiLowercased)
    }

    /// The name inside of the first label, as NetBIOS hides it (RFC 1001 §14.1), without its type;
    /// `nil` if there is none.
    var netBIOSName: [UInt8]? {
        guard let label = labels.first, label.count == 32,
            label.allSatisfy({ (0x41...0x50).contains($0) })
        else { return nil }
        let bytes = stride(from: 0, to: 30, by: 2).map {
            (label[$0] - 0x41) << 4 | (label[$0 + 1] - 0x41)
        }
        return bytes.prefix { $0 != 0x20 && $0 != 0 }.map(\.asciiLowercased)
    }
}
