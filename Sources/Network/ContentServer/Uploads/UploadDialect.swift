internal import Base
internal import HTTPModel
internal import HTTPServer

/// How a client uploads; all dialects share one store.
enum UploadDialect: Sendable, Equatable {
    /// In one request that cannot be resumed.
    case plain
    /// tus 1.0.0.
    case tus
    /// draft-ietf-httpbis-resumable-upload by its interop version, 3 to 8.
    case draft(Int)
    /// The same without a version, as it is in the RFC.
    case standard

    init(_ fields: Fields) {
        if fields.first(named: "tus-resumable") != nil {
            self = .tus
        } else if let text = fields.first(named: "upload-draft-interop-version") {
            let version = decimal(text).flatMap { Int(exactly: $0) } ?? 0
            self = (3...8).contains(version) ? .draft(version) : .plain
        } else {
            let isMarked =
                fields.first(named: "upload-complete") != nil
                || fields.first(named: "upload-offset") != nil
            self = isMarked ? .standard : .plain
        }
    }

    var name: String {
        switch self {
        case .plain: "plain"
        case .tus: "tus"
        case .draft(let version): "draft \(version)"
        case .standard: "rfc"
        }
    }

    /// The versions grew from one to the next; without a version it is the newest.
    private func isDraft(from version: Int) -> Bool {
        switch self {
        case .plain, .tus: false
        case .draft(let own): own >= version
        case .standard: true
        }
    }

    var isResumable: Bool { isDraft(from: 3) }
    /// Whether an append must be an `application/partial-upload`.
    var needsPartialType: Bool { isDraft(from: 6) }
    var tellsLengthAndLimit: Bool { isDraft(from: 6) }
    /// Of an append that leaves the upload incomplete.
    var appendedStatus: Int { self == .tus || isDraft(from: 7) ? 204 : 201 }

    /// Whether the request says that the upload is complete with it; `nil` if it does not say.
    func completes(_ fields: Fields) -> Bool? {
        let isNegated = self == .draft(3)
        let field = fields.first(named: isNegated ? "upload-incomplete" : "upload-complete")
        switch field.map({ ParameterizedValue($0).text }) {
        case "?1": return !isNegated
        case "?0": return isNegated
        default: return nil
        }
    }

    /// What every response of this dialect has.
    var marks: [ResponseField] {
        switch self {
        case .plain, .standard: []
        case .tus: [ResponseField("Tus-Resumable", "1.0.0")]
        case .draft(let version):
            [ResponseField("Upload-Draft-Interop-Version", String(version))]
        }
    }

    func completion(_ isComplete: Bool) -> [ResponseField] {
        guard isResumable else { return [] }
        return self == .draft(3)
            ? [ResponseField("Upload-Incomplete", isComplete ? "?0" : "?1")]
            : [ResponseField("Upload-Complete", isComplete ? "?1" : "?0")]
    }

    /// - Parameters:
    ///   - size: of an upload at most, in bytes.
    ///   - age: how long the upload stays, in seconds; `nil` for none that there is.
    func limits(size: UInt64, age: Int64?) -> [ResponseField] {
        guard tellsLengthAndLimit else { return [] }
        let key = isDraft(from: 7) ? "max-age" : "expires"
        let age = age.map { ", \(key)=\(max(0, $0))" } ?? ""
        return [ResponseField("Upload-Limit", "max-size=\(size)\(age)")]
    }
}

/// Why an upload is refused, for its client.
struct UploadRefusal: Error, Sendable {
    let status: Int
    let title: String
    /// Of the registry of problem types; `nil` for one that only has a status.
    var problem: String?
    /// What the problem type has more.
    var members: [JSONText.Member] = []
    var fields: [ResponseField] = []

    init(_ status: Int, _ title: String) {
        self.status = status
        self.title = title
    }

    init(_ failure: Failure) {
        self.init(failure.code == "uploads-full" ? 413 : 500, failure.detail)
    }

    static func inconsistentLength(_ detail: String) -> UploadRefusal {
        var refusal = UploadRefusal(400, detail)
        refusal.problem = "inconsistent-upload-length"
        return refusal
    }

    static var completed: UploadRefusal {
        var refusal = UploadRefusal(400, "the upload is already complete")
        refusal.problem = "completed-upload"
        return refusal
    }

    static func wrongOffset(
        _ provided: UInt64, expected: UInt64, _ dialect: UploadDialect
    ) -> UploadRefusal {
        var refusal = UploadRefusal(409, "the upload goes on at \(expected), not at \(provided)")
        refusal.problem = "mismatching-upload-offset"
        refusal.members = [
            JSONText.Member("expected-offset", .integer(Int64(clamping: expected))),
            JSONText.Member("provided-offset", .integer(Int64(clamping: provided))),
        ]
        refusal.fields = [ResponseField("Upload-Offset", String(expected))]
        refusal.fields += dialect.completion(false)
        return refusal
    }

    func response(_ dialect: UploadDialect) -> ServerResponse {
        let type = problem.map { "https://iana.org/assignments/http-problem-types#\($0)" }
        let document = JSONText.object(
            [
                JSONText.Member("type", .string(type ?? "about:blank")),
                JSONText.Member("title", .string(title)),
                JSONText.Member("status", .integer(Int64(status))),
            ] + members)
        return ServerResponse(
            status,
            [
                ResponseField("Content-Type", "application/problem+json"),
                ResponseField("Cache-Control", "no-store"),
            ] + fields + dialect.marks, body: .bytes(document.line + [0x0A]))
    }
}
