internal import Base
package import HTTPModel

/// How a file is uploaded, as the fields of requests and responses tell.
package enum UploadDialect: Sendable, Hashable {
    /// In one request that cannot be resumed.
    case plain
    /// tus 1.0.0.
    case tus
    /// draft-ietf-httpbis-resumable-upload by its interop version, 3 to 8.
    case draft(Int)
    /// The same without a version, as it is in the RFC.
    case standard

    /// That of a request.
    package init(_ fields: Fields) {
        if fields.first(named: "tus-resumable") != nil {
            self = .tus
        } else if let text = fields.first(named: "upload-draft-interop-version") {
            let version = decimal(text).flatMap { Int(exactly: $0) } ?? 0
            self = Self.versions.contains(version) ? .draft(version) : .plain
        } else {
            let isMarked =
                fields.first(named: "upload-complete") != nil
                || fields.first(named: "upload-offset") != nil
            self = isMarked ? .standard : .plain
        }
    }

    /// `nil` for a name that is none.
    package init?(name: String) {
        guard let found = Self.all.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// A stable word.
    package var name: String {
        switch self {
        case .plain: "plain"
        case .tus: "tus"
        case .draft(let version): "draft \(version)"
        case .standard: "rfc"
        }
    }

    private static let versions = 3...8
    private static let all: [UploadDialect] =
        versions.map(UploadDialect.draft) + [.plain, .tus, .standard]

    /// The versions grew from one to the next; without a version it is the newest.
    package func isDraft(from version: Int) -> Bool {
        switch self {
        case .plain, .tus: false
        case .draft(let own): own >= version
        case .standard: true
        }
    }

    /// Whether it is the IETF's, in any version.
    package var isResumable: Bool { isDraft(from: 3) }
    /// Whether an append must be an `application/partial-upload`.
    package var needsPartialType: Bool { isDraft(from: 6) }
    package var tellsLengthAndLimit: Bool { isDraft(from: 6) }
    /// Of the fields of Upload-Limit, how long an upload stays.
    package var ageKey: String { isDraft(from: 7) ? "max-age" : "expires" }

    /// What every message of this dialect says of it; `nil` for nothing.
    package var mark: (name: String, value: String)? {
        switch self {
        case .plain, .standard: nil
        case .tus: ("Tus-Resumable", "1.0.0")
        case .draft(let version): ("Upload-Draft-Interop-Version", String(version))
        }
    }

    // MARK: Completion

    /// The field that says whether the upload is complete.
    package var completionName: String {
        self == .draft(3) ? "Upload-Incomplete" : "Upload-Complete"
    }

    package func completionValue(_ isComplete: Bool) -> String {
        isComplete != (self == .draft(3)) ? "?1" : "?0"
    }

    /// Whether the message says that the upload is complete; `nil` if it does not say.
    package func completes(_ fields: Fields) -> Bool? {
        let values =
            self == .draft(3)
            ? fields.all(named: "upload-incomplete") : fields.all(named: "upload-complete")
        // Two that may contradict one another tell nothing.
        guard values.count == 1 else { return nil }
        return switch ParameterizedValue(values[0]).text {
        case completionValue(true): true
        case completionValue(false): false
        default: nil
        }
    }
}
