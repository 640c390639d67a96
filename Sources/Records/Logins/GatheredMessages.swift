package import Traffic

/// The messages of one connection that are looked into, gathered within bounds.
///
/// Messages of gRPC and events are left out: they stand in the contents of their exchanges.
package struct GatheredMessages {
    /// A message of a WebSocket, its parts put together, or a datagram.
    package struct Message {
        package let direction: Direction
        package fileprivate(set) var bytes: [UInt8]
        fileprivate let number: Int64
    }

    /// What belongs to one exchange, or to the connection itself.
    package struct Conversation {
        package fileprivate(set) var messages: [Message] = []
        /// What the sides said in a protocol that has no messages of its own, in one piece.
        package fileprivate(set) var client: [UInt8] = []
        package fileprivate(set) var origin: [UInt8] = []
        /// Whether its messages are datagrams.
        fileprivate var isDatagrams = false
        /// Directions of which a part is missing: nothing behind it is put together with it.
        fileprivate var broken: Set<Direction> = []
    }

    /// How many records were looked at.
    package private(set) var count = 0
    /// Whether a part of what was said was left out.
    package private(set) var isTruncated = false
    private var conversations: [Int64?: Conversation] = [:]
    private var bytesLeft: [Direction: Int] = [
        .request: Self.byteLimit, .response: Self.byteLimit,
    ]

    package init() {}

    /// The exchanges that have messages, by rising id.
    package var exchanges: [Int64] { conversations.keys.compactMap { $0 }.sorted() }

    package func conversation(of exchange: Int64?) -> Conversation? { conversations[exchange] }

    /// Takes the next part of a message, in the order of numbers and parts.
    ///
    /// - Returns: whether more is wanted.
    package mutating func add(_ record: MessageRecord) -> Bool {
        guard count < Self.countLimit else {
            isTruncated = true
            return false
        }
        count += 1
        switch record.kind {
        case .segment, .text, .binary, .datagram: break
        case .ping, .pong, .close, .grpc, .event, .frame: return true
        }
        guard conversations[record.exchange] != nil || conversations.count < Self.exchangeLimit
        else {
            isTruncated = true
            return true
        }
        let room = bytesLeft[record.direction] ?? 0
        let kept = record.bytes.prefix(room)
        bytesLeft[record.direction] = room - kept.count
        let isCut = record.isTruncated || kept.count < record.bytes.count
        isTruncated = isTruncated || isCut
        conversations[record.exchange, default: Conversation()].add(record, kept, isCut: isCut)
        return bytesLeft.values.contains { $0 > 0 }
    }

    /// How much of each direction of a connection is looked into, in bytes: logins stand at the
    /// start, and one direction must not use up what is there for the other.
    package static let byteLimit = 1 << 20
    /// How many records of a connection are looked at, so that a stream of tiny ones ends.
    package static let countLimit = 65_536
    /// How many exchanges of a connection are told apart.
    private static let exchangeLimit = 1024
}

extension GatheredMessages.Conversation {
    fileprivate mutating func add(
        _ record: MessageRecord, _ bytes: ArraySlice<UInt8>, isCut: Bool
    ) {
        defer { if isCut { broken.insert(record.direction) } }
        if record.kind == .datagram { isDatagrams = true }
        if record.kind != .segment {
            let last = messages.lastIndex { $0.direction == record.direction }
            if record.part > 0, let last, messages[last].number == record.number {
                messages[last].bytes += bytes
            } else if !bytes.isEmpty {
                messages.append(
                    GatheredMessages.Message(
                        direction: record.direction, bytes: Array(bytes), number: record.number))
            }
        } else if !broken.contains(record.direction) {
            if record.direction == .request { client += bytes } else { origin += bytes }
        }
    }
}

extension GatheredMessages.Conversation {
    /// The first messages of one side in one piece, for protocols that are spoken in messages.
    package func joined(_ direction: Direction) -> [UInt8] {
        var result: [UInt8] = []
        for message in messages where message.direction == direction {
            result += message.bytes.prefix(Self.joinedLimit - result.count)
            if result.count >= Self.joinedLimit { break }
        }
        return result
    }

    /// The logins that can be read in what was said, in one piece or in messages.
    package var logins: [ClearLogin] {
        guard !isDatagrams else { return ClearLoginReader.logins(datagrams: joined(.request)) }
        let said = ClearLoginReader.logins(client: client, origin: origin)
        guard !messages.isEmpty else { return said }
        return said
            + ClearLoginReader.logins(client: joined(.request), origin: joined(.response))
    }

    /// In bytes.
    private static let joinedLimit = 65_536
}
