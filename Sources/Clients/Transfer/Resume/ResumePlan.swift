internal import Base
internal import HTTPModel

/// What the next request for a download says.
package struct ResumePlan: Sendable, Equatable {
    /// How it is made sure that what comes is of the version whose beginning is there, from the
    /// first to be tried on.
    package enum Mode: Sendable, Equatable {
        /// `If-Range` with a strong tag, or with a strong date where there was no tag.
        case ifRange
        /// `If-Match` with the strong tag, for servers that answer `If-Range` with the whole.
        case ifMatch
        /// By the digest of the whole, when all of it is there.
        case digest
        /// The whole is asked for, and its beginning compared.
        case whole
    }

    package let mode: Mode
    /// From where on, in bytes of the content; 0 for the whole.
    package let offset: Int64
    /// Up to where, for one of several parts; `nil` for the end.
    package let end: Int64?
    private let version: SavedVersion?

    /// - Parameters:
    ///   - offset: from where on something is missing.
    ///   - overlap: how much before that is asked for again, to be compared.
    package init(
        _ mode: Mode, _ version: SavedVersion?, offset: Int64, overlap: Int64 = 0,
        end: Int64? = nil
    ) {
        self.mode = mode
        self.version = version
        self.end = end
        self.offset = mode == .whole ? 0 : max(0, offset - overlap)
    }

    /// The ways to go on, from the first to be tried on (RFC 9110 §13.1.5, §15.3.7.3).
    ///
    /// - Parameters:
    ///   - offset: how much is there.
    ///   - isExpected: whether a digest of the whole is known from elsewhere.
    package static func ladder(
        _ version: SavedVersion?, offset: Int64, isExpected: Bool
    ) -> [Mode] {
        guard let version, offset > 0 else { return [.whole] }
        if version.strongTag != nil { return [.ifRange, .ifMatch, .whole] }
        if version.strongDate != nil { return [.ifRange, .whole] }
        return isExpected || version.hasSecureDigest ? [.digest, .whole] : [.whole]
    }

    /// Whether a part is asked for.
    var asksForPart: Bool { mode != .whole && (offset > 0 || end != nil) }

    /// What the request says for it. The coding is the identity: ranges count coded bytes, and a
    /// coding that is made anew need not have the same ones.
    package var fields: [TransferField] {
        var fields = [
            TransferField("Accept-Encoding", "identity"),
            TransferField("Want-Repr-Digest", "sha-256=10, sha-512=5"),
        ]
        guard asksForPart else { return fields }
        fields.append(TransferField("Range", "bytes=\(offset)-\(end.map { String($0 - 1) } ?? "")"))
        switch mode {
        case .ifRange:
            if let value = version?.strongTag?.text ?? version?.strongDate {
                fields.append(TransferField("If-Range", value))
            }
        case .ifMatch:
            if let tag = version?.strongTag { fields.append(TransferField("If-Match", tag.text)) }
        case .digest, .whole: break
        }
        return fields
    }
}
