internal import Base

/// MongoDB: mechanisms of SASL, MONGODB-CR, and users that are made with a password (MongoDB Wire
/// Protocol, OP_MSG and OP_QUERY).
struct MongoDBLoginReader {
    /// Whether a client begins with a message of the protocol.
    static func speaks(_ client: [UInt8]) -> Bool {
        var cursor = ByteCursor(client[...])
        return header(&cursor) != nil
    }

    static func logins(client: [UInt8]) -> [ClearLogin] {
        var reader = MongoDBLoginReader()
        var cursor = ByteCursor(client[...])
        while reader.found.count < ClearLogin.countLimit, let header = header(&cursor),
            let body = cursor.bytes(header.length)
        {
            if let command = command(header.code, body) { reader.take(command) }
        }
        return reader.found
    }

    private var found: [ClearLogin] = []
    private var mechanism: SASLAnswers?
    private var answers: [[UInt8]] = []

    private mutating func take(_ command: BSONDocument) {
        // What begins to log in may stand inside of a greeting.
        let command = command.document("speculativeAuthenticate") ?? command
        let payload = command.values["payload"].map { Array($0) }
        switch command.name {
        case "saslStart":
            mechanism = command.values["mechanism"].flatMap { SASLAnswers(mechanism: $0) }
            answers = payload.map { [$0] } ?? []
        case "saslContinue": answers += payload.map { [$0] } ?? []
        case "authenticate":
            guard let key = command.values["key"] else { return }
            add(ClearLogin(.mongodb, .mongoDBCR, user: command.values["user"], hash: key))
        case "createUser", "updateUser":
            guard let password = command.values["pwd"] else { return }
            let user = command.values[command.name]
            add(ClearLogin(.mongodb, .createUser, user: user, secret: password))
        default: break
        }
        guard let login = mechanism?.login(.mongodb, .saslPlain, answers) else { return }
        (mechanism, answers) = (nil, [])
        found.append(login)
    }

    private mutating func add(_ login: ClearLogin?) {
        if let login { found.append(login) }
    }

    /// How much follows the head of a client's message, and what kind of message it is.
    private static func header(_ cursor: inout ByteCursor) -> (length: Int, code: Int)? {
        guard let length = cursor.littleEndian(4), (16...sizeLimit).contains(length),
            cursor.littleEndian(4) != nil, cursor.littleEndian(4) == 0,
            let code = cursor.littleEndian(4), [query, message, compressed].contains(code)
        else { return nil }
        return (length - 16, code)
    }

    private static func command(_ code: Int, _ body: ArraySlice<UInt8>) -> BSONDocument? {
        var cursor = ByteCursor(body)
        guard cursor.littleEndian(4) != nil else { return nil }
        if code == query {
            guard cursor.terminated() != nil, cursor.bytes(8) != nil else { return nil }
            return BSONDocument(&cursor)
        }
        // No client compresses what logs in.
        guard code == message else { return nil }
        while let kind = cursor.number(1), kind == 1 {
            guard let size = cursor.littleEndian(4), cursor.bytes(size - 4) != nil else {
                return nil
            }
        }
        return BSONDocument(&cursor)
    }

    private static let (query, compressed, message) = (2004, 2012, 2013)
    /// In bytes: what a server takes.
    private static let sizeLimit = 48_000_000
}

/// The texts, the binary data and the documents in a document of BSON (bsonspec.org), by name.
struct BSONDocument {
    /// That of the first element, which is what a command is called.
    private(set) var name = ""
    private(set) var values: [String: ArraySlice<UInt8>] = [:]
    private var documents: [String: ArraySlice<UInt8>] = [:]

    func document(_ name: String) -> BSONDocument? {
        documents[name].flatMap { bytes in
            var cursor = ByteCursor(bytes)
            return BSONDocument(&cursor)
        }
    }

    /// - Returns: `nil` if no whole document follows. What is behind an element of an unknown kind
    ///   is left out.
    init?(_ cursor: inout ByteCursor) {
        guard let size = cursor.littleEndian(4), let body = cursor.bytes(size - 4), body.last == 0
        else { return nil }
        var elements = ByteCursor(body.dropLast())
        for index in 0..<Self.elementLimit {
            guard let kind = elements.number(1), let name = elements.terminated()?.text,
                let value = Self.value(kind, &elements)
            else { break }
            if index == 0 { self.name = name }
            switch kind {
            case 0x02, 0x05: values[name] = value
            case 0x03: documents[name] = value
            default: break
            }
        }
    }

    private static func value(_ kind: Int, _ cursor: inout ByteCursor) -> ArraySlice<UInt8>? {
        switch kind {
        case 0x02: return cursor.littleEndian(4).flatMap { cursor.bytes($0) }?.dropLast()
        case 0x03, 0x04:
            var start = cursor
            return start.littleEndian(4).flatMap { $0 < 5 ? nil : cursor.bytes($0) }
        case 0x05:
            guard let size = cursor.littleEndian(4), cursor.number(1) != nil else { return nil }
            return cursor.bytes(size)
        default: return sizes[kind].flatMap { cursor.bytes($0) }
        }
    }

    /// Of the other kinds that commands have: numbers, ids, times, what is true and what is null.
    private static let sizes = [
        0x01: 8, 0x07: 12, 0x08: 1, 0x09: 8, 0x0A: 0, 0x10: 4, 0x11: 8, 0x12: 8, 0x13: 16,
    ]
    private static let elementLimit = 256
}
