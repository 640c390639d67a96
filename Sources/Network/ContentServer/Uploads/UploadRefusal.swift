internal import Base
internal import Contents
internal import HTTPServer

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
        let status =
            switch failure.code {
            case "uploads-full": 413
            case "upload-removed": 410
            case "upload-superseded", "upload-altered": 409
            default: 500
            }
        self.init(status, failure.detail)
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

    static var altered: UploadRefusal { UploadRefusal(UploadStore.altered) }

    /// Locked (RFC 4918 §11.3), as servers of tus answer then.
    static var isDigested: UploadRefusal {
        var refusal = UploadRefusal(423, "the upload is being completed; ask again")
        refusal.fields = [ResponseField("Retry-After", "1")]
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
