internal import Base
internal import Contents

/// What is known of an upload besides its bytes, as it stands in the state file.
struct UploadRecord: Sendable, Equatable {
    var dialect: String
    /// Of the whole, in bytes; `nil` while nobody knows.
    var length: UInt64?
    /// In seconds since 1970; a complete upload stays.
    var expiry: Int64
    /// The field Upload-Metadata of tus, as it came.
    var metadata: String?
    /// What the whole must have, by Repr-Digest: one of each algorithm.
    var wanted: [ExpectedDigest] = []
    /// What stands in the file up to here was checked; `nil` if all of it counts.
    var checkedCount: UInt64?
    /// Of the whole, in hexadecimal, once it is complete.
    var sha256: String?
    /// Whether tus may join it with others.
    var isPartial = false
    /// Whether it is joined of others.
    var isJoined = false
    /// The name that its files got last, or were getting when the server was killed; `nil` for the
    /// one that they were made with.
    var movedTo: String?

    var isComplete: Bool { sha256 != nil }

    /// Whether one request brings all of it, so that nobody goes on with it behind that.
    var comesAtOnce: Bool { dialect == UploadDialect.plain.name || isJoined }

    init(dialect: String, expiry: Int64) {
        self.dialect = dialect
        self.expiry = expiry
    }

    /// A line for each member.
    var text: String {
        let lines: [(String, String?)] = [
            ("dialect", dialect), ("length", length.map { String($0) }),
            ("expiry", String(expiry)), ("metadata", metadata),
            ("digest", wanted.isEmpty ? nil : wanted.map(\.text).joined(separator: " ")),
            ("checked", checkedCount.map { String($0) }), ("sha256", sha256),
            ("partial", isPartial ? "yes" : nil), ("joined", isJoined ? "yes" : nil),
            ("moved", movedTo),
        ]
        let body = lines.compactMap { name, value in value.map { "\(name) \($0)\n" } }
        return Self.head + body.joined() + Self.end
    }

    /// `nil` for what is no state file, and for one that is not whole.
    init?(_ bytes: [UInt8]) {
        let text = bytes.text
        guard text.hasPrefix(Self.head), text.hasSuffix(Self.end) else { return nil }
        var values: [Substring: String] = [:]
        for line in text.split(separator: "\n").dropFirst().dropLast() {
            let name = line.prefix { $0 != " " }
            values[name] = String(line.dropFirst(name.count + 1))
        }
        guard let dialect = values["dialect"], let expiry = values["expiry"].flatMap(Int64.init)
        else { return nil }
        self.init(dialect: dialect, expiry: expiry)
        length = values["length"].flatMap(UInt64.init)
        metadata = values["metadata"]
        checkedCount = values["checked"].flatMap(UInt64.init)
        sha256 = values["sha256"]
        isPartial = values["partial"] != nil
        isJoined = values["joined"] != nil
        movedTo = values["moved"]
        let words = values["digest"]?.split(separator: " ") ?? []
        for place in stride(from: 0, to: words.count - 1, by: 2) {
            let (name, sum) = (words[place], words[place + 1])
            guard let algorithm = DigestAlgorithm(rawValue: String(name)),
                let digest = Base.bytes(fromHex: sum)
            else { return nil }
            wanted.append(ExpectedDigest(algorithm: algorithm, digest: digest))
        }
    }

    private static let head = "sallyport-upload 1\n"
    private static let end = "end\n"
}
