package import Traffic

/// Compares two captures: aligns their exchanges and tells how those that stand for each other
/// differ.
///
/// It holds about 150 bytes an exchange, two exchanges with their contents up to a limit, and what
/// the report tells.
package struct CaptureComparison {
    /// A capture, and which of its exchanges count.
    package struct Subject {
        package let name: String
        package let source: any TrafficSource
        package let accepts: (ExchangeRecord) throws -> Bool

        package init(
            name: String, source: any TrafficSource,
            accepts: @escaping (ExchangeRecord) throws -> Bool = { _ in true }
        ) {
            self.name = name
            self.source = source
            self.accepts = accepts
        }
    }

    private let configuration: ComparisonConfiguration

    package init(_ configuration: ComparisonConfiguration) {
        self.configuration = configuration
    }

    /// Errors: those of the sources.
    package func compare(_ left: Subject, _ right: Subject) throws -> ComparisonReport {
        try withAligned(left, right) { aligned in
            var run = ComparisonRun(
                aligned.configuration, (left, aligned.before), (right, aligned.after),
                aligned.alignment)
            try run.go()
            return run.report
        }
    }

    /// What rules would make the two the same, as far as rules can.
    ///
    /// Errors: those of the sources.
    package func lesson(_ left: Subject, _ right: Subject) throws -> RuleLesson {
        try withAligned(left, right) { aligned in
            var lesson = RuleLesson()
            for pair in aligned.alignment.pairs {
                let (mine, theirs) = (aligned.before[pair.left], aligned.after[pair.right])
                guard let record = try left.source.exchange(mine.id),
                    let other = try right.source.exchange(theirs.id)
                else { continue }
                try lesson.note(
                    ExchangeComparison(
                        configuration: aligned.configuration,
                        left: .init(record, mine, left.source),
                        right: .init(other, theirs, right.source)))
            }
            lesson.noteSingles(aligned.alignment.removed.count + aligned.alignment.added.count)
            lesson.finish()
            return lesson
        }
    }

    private struct Aligned {
        /// With what was learned.
        let configuration: ComparisonConfiguration
        let before: [ExchangeSignature]
        let after: [ExchangeSignature]
        let alignment: Alignment
    }

    private func withAligned<Result>(
        _ left: Subject, _ right: Subject, _ body: (Aligned) throws -> Result
    ) throws -> Result {
        try left.source.unchanging {
            try right.source.unchanging { try body(try align(left, right)) }
        }
    }

    private func align(_ left: Subject, _ right: Subject) throws -> Aligned {
        let digests = try left.source.digestName.flatMap { name in
            try right.source.digestName == name ? name : nil
        }
        var reader = SideReader(configuration, usesDigests: digests != nil)
        let recorded = try reader.signatures(of: left)
        var before = recorded
        let after = try reader.signatures(of: right)
        var alignment = Alignment(before, after)
        var configuration = configuration
        if !configuration.countsMadeUpValues, !alignment.isWhole(before, after),
            var learned = try LearnedValues(left, right, before)
        {
            // What is learned of one exchange aligns others, from which there is more to learn.
            for _ in 0..<Self.roundLimit {
                let pairs = alignment.pairs.map { (recorded[$0.left], after[$0.right]) }
                guard try learned.learn(from: pairs) else { break }
                before = try reader.renamed(recorded, by: &learned)
                alignment = Alignment(before, after)
            }
            configuration.renaming = learned.renaming
        }
        return Aligned(
            configuration: configuration, before: before, after: after, alignment: alignment)
    }

    /// How deep ids may lie below others in paths.
    private static let roundLimit = 4
}

/// Reads the signatures of one capture.
private struct SideReader {
    private let reader: SignatureReader
    private let usesDigests: Bool

    init(_ configuration: ComparisonConfiguration, usesDigests: Bool) {
        reader = SignatureReader(configuration)
        self.usesDigests = usesDigests
    }

    mutating func signatures(of subject: CaptureComparison.Subject) throws -> [ExchangeSignature] {
        var signatures: [ExchangeSignature] = []
        try subject.source.exchanges { exchange in
            guard try subject.accepts(exchange) else { return true }
            var signature = reader.signature(of: exchange)
            signature.requestBody = Int(truncatingIfNeeded: exchange.requestBody.size)
            signature.responseBody = Int(truncatingIfNeeded: exchange.responseBody.size)
            if !usesDigests { try readContents(of: exchange, subject.source, into: &signature) }
            if let messages = try SocketMessages.hashes(of: exchange, in: subject.source) {
                signature.requestBody.append(messages.request)
                signature.responseBody.append(messages.response)
            }
            signatures.append(signature)
            return true
        }
        if usesDigests { try readDigests(subject.source, into: &signatures) }
        return signatures
    }

    /// The signatures of a capture with its requests as they would be on the right.
    func renamed(
        _ signatures: [ExchangeSignature], by learned: inout LearnedValues
    ) throws -> [ExchangeSignature] {
        try signatures.map { signature in
            guard let renamed = try learned.renamed(signature.id) else { return signature }
            var changed = reader.signature(of: renamed)
            changed.requestBody = signature.requestBody
            changed.responseBody = signature.responseBody
            return changed
        }
    }

    private func readContents(
        of exchange: ExchangeRecord, _ source: any TrafficSource,
        into signature: inout ExchangeSignature
    ) throws {
        if exchange.requestBody.size > 0 {
            signature.requestBody = try contentHash(source, exchange.id, .request)
        }
        if exchange.responseBody.size > 0 {
            signature.responseBody = try contentHash(source, exchange.id, .response)
        }
    }

    /// Adds the digests, which come by rising exchange in few runs.
    private func readDigests(
        _ source: any TrafficSource, into signatures: inout [ExchangeSignature]
    ) throws {
        var index = 0
        var last = Int64.min
        try source.contentDigests { digest in
            if digest.exchange < last { index = 0 }
            last = digest.exchange
            while index < signatures.count, signatures[index].id < digest.exchange { index += 1 }
            guard index < signatures.count, signatures[index].id == digest.exchange else {
                return true
            }
            if digest.direction == .request {
                signatures[index].requestBody.append(digest.bytes)
            } else {
                signatures[index].responseBody.append(digest.bytes)
            }
            return true
        }
    }
}

/// Hashes a content without holding it.
func contentHash(
    _ source: any TrafficSource, _ exchange: Int64, _ direction: Direction
) throws -> Int {
    var hasher = Hasher()
    try source.body(ofExchange: exchange, direction) { bytes in
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        return true
    }
    return hasher.finalize()
}

extension Int {
    /// Adds another hash.
    fileprivate mutating func append(_ hash: Int) {
        var hasher = Hasher()
        hasher.combine(self)
        hasher.combine(hash)
        self = hasher.finalize()
    }

    /// Adds the digest of a content's next part.
    fileprivate mutating func append(_ digest: [UInt8]) {
        var hasher = Hasher()
        hasher.combine(self)
        unsafe digest.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        self = hasher.finalize()
    }
}
