internal import Base
internal import Traffic

/// Stores content, each chunk once.
final class BodyRowWriter {
    private let digest: @Sendable ([UInt8]) -> [UInt8]
    private let chunk: Statement
    private let find: Statement
    private let part: Statement
    private let stub: [Statement]
    private var recent = RecentChunks(capacity: recentCapacity)
    private var nextChunk: Int64

    init(database: Database, digest: @escaping @Sendable ([UInt8]) -> [UInt8]) throws(Failure) {
        self.digest = digest
        chunk = try database.prepare(
            "INSERT INTO chunk(id, hash, size, coding, bytes) VALUES(?,?,?,0,?)")
        find = try database.prepare(
            "SELECT id FROM chunk WHERE hash = ? AND size >= \(indexedSize) LIMIT 1")
        part = try database.prepare("INSERT OR REPLACE INTO part VALUES(?,?,?,?)")
        stub = [
            try database.prepare(Self.stub(clearing: "request_body")),
            try database.prepare(Self.stub(clearing: "response_body")),
        ]
        nextChunk = try database.nextID("SELECT max(id) FROM chunk")
    }

    /// Stores what a record holds of a content.
    ///
    /// - Returns: the chunk that is the whole content; `nil` if it has several parts, or none.
    func write(
        _ body: BodyRecord, of exchange: Int64, _ direction: Direction
    ) throws(Failure) -> Int64? {
        guard !body.bytes.isEmpty else { return nil }
        if body.chunkCount == 0, body.bytes.count <= partByteLimit { return try store(body.bytes) }
        var sequence = body.chunkCount
        var start = 0
        while start < body.bytes.count {
            let end = min(start + partByteLimit, body.bytes.count)
            let id = try store([UInt8](body.bytes[start..<end]))
            try write(part: id, of: exchange, direction, sequence: sequence)
            sequence += 1
            start = end
        }
        return nil
    }

    /// Stores a part that came before its exchange's record.
    ///
    /// With the first one it makes sure that there is an exchange to own it.
    func write(
        chunk bytes: [UInt8], of exchange: Int64, _ direction: Direction, sequence: Int
    ) throws(Failure) {
        if sequence == 0 {
            let stub = stub[direction.rawValue]
            stub.bind(exchange)
            stub.bind(Timestamp.now().microseconds)
            try stub.run()
        }
        guard !bytes.isEmpty else { return }
        let id = try store(bytes)
        try write(part: id, of: exchange, direction, sequence: sequence)
    }

    private func write(
        part id: Int64, of exchange: Int64, _ direction: Direction, sequence: Int
    ) throws(Failure) {
        part.bind(exchange)
        part.bind(direction.word)
        part.bind(sequence)
        part.bind(id)
        try part.run()
    }

    /// The chunk with this content, a new one if none is known.
    func store(_ bytes: [UInt8]) throws(Failure) -> Int64 {
        let hash = digest(bytes)
        if let known = recent.chunk(for: hash) { return known }
        if bytes.count >= indexedSize, let known = try stored(hash) {
            recent.remember(hash, chunk: known)
            return known
        }
        let id = nextChunk
        chunk.bind(id)
        chunk.bind(hash)
        chunk.bind(bytes.count)
        try chunk.run(last: bytes)
        nextChunk += 1
        recent.remember(hash, chunk: id)
        return id
    }

    private func stored(_ hash: [UInt8]) throws(Failure) -> Int64? {
        find.bind(hash)
        guard try find.next() else { return nil }
        let id = find.integer()
        find.reset()
        return id
    }

    /// An exchange of which nothing is known yet; one that is known loses its content of one chunk,
    /// in favour of the parts.
    private static func stub(clearing column: String) -> String {
        "INSERT INTO exchange(id, connection, started_us, status, request_size, response_size) "
            + "VALUES(?,0,?,0,0,0) ON CONFLICT(id) DO UPDATE SET \(column) = NULL"
    }
}

/// A direction as the file has it.
enum StoredDirection: String, Sendable, CaseIterable {
    case request
    case response

    var value: Direction {
        switch self {
        case .request: .request
        case .response: .response
        }
    }
}

extension Direction {
    var stored: StoredDirection {
        switch self {
        case .request: .request
        case .response: .response
        }
    }

    var word: String { stored.rawValue }
}

/// How many digests are remembered: 64 bytes each, and more than the distinct answers of an API
/// that is called in a loop.
private let recentCapacity = 4096
/// From this size on, in bytes, a chunk is looked for in the whole file; `Schema` has it too.
private let indexedSize = 4096
/// In bytes: a reader holds one part at a time.
private let partByteLimit = 1 << 20
