internal import Base
package import Contents
package import HTTPModel

/// What of an answer's head decides how an upload goes on.
package struct UploadFacts: Sendable, Equatable {
    package let answer: AnswerFacts
    /// Of the upload, in bytes; `nil` where it is not told, or no number.
    package let offset: Int64?
    /// The whole's, in bytes.
    package let length: Int64?
    /// `nil` where it does not say.
    package let isComplete: Bool?
    /// `nil` where it does not say.
    package let limits: UploadLimits?
    /// Whether checksums of SHA-256 are compared (tus).
    package let takesChecksums: Bool

    package init(url: String, _ head: ResponseHead, _ dialect: UploadDialect, now: HTTPDate) {
        let fields = head.fields
        answer = AnswerFacts(url: url, head, now: now)
        offset = Self.number(Self.only(fields, "upload-offset"), dialect)
        length = Self.number(Self.only(fields, "upload-length"), dialect)
        isComplete = dialect.isResumable ? dialect.completes(fields) : nil
        if dialect == .tus {
            let most = Self.number(fields.first(named: "tus-max-size"), dialect)
            limits = most.map { most in
                var limits = UploadLimits()
                limits.greatest = most
                return limits
            }
        } else {
            limits = dialect.isResumable ? UploadLimits(fields.first(named: "upload-limit")) : nil
        }
        takesChecksums =
            Self.words(fields.first(named: "tus-extension")).contains("checksum")
            && Self.words(fields.first(named: "tus-checksum-algorithm")).contains("sha256")
    }

    /// Two that may contradict one another tell nothing.
    private static func only(_ fields: Fields, _ name: StaticString) -> ArraySlice<UInt8>? {
        let values = fields.all(named: name)
        return values.count == 1 ? values[0] : nil
    }

    private static func number(
        _ field: ArraySlice<UInt8>?, _ dialect: UploadDialect
    ) -> Int64? {
        guard let field, dialect != .plain else { return nil }
        return dialect == .tus
            ? decimal(field).flatMap { Int64(exactly: $0) } : UploadLimits.integer(field)
    }

    private static func words(_ field: ArraySlice<UInt8>?) -> [String] {
        (field ?? []).split(separator: UInt8(ascii: ",")).map { $0.trimmingWhitespace.text }
    }
}
