internal import Base
internal import Contents

/// The next request of an upload.
package enum UploadAction: Sendable, Equatable {
    /// Ask what a server of tus can do.
    case discover
    /// Make an upload resource, without content.
    case create
    /// Send the whole to the task's URL.
    case sendWhole
    /// Ask how far the upload resource is.
    case ask
    /// Send these bytes of the file to the upload resource.
    case append(Range<Int64>, isDigested: Bool)
    /// Remove the upload resource.
    case cancel

    package static func next(
        _ state: UploadState, _ options: UploadOptions
    ) -> UploadAction {
        guard state.resource != nil else {
            switch options.mode {
            case .automatic, .put, .form: return .sendWhole
            // There is nothing to go on with.
            case .resumable: return state.size == 0 ? .sendWhole : .create
            case .tus: return state.isDiscovered ? .create : .discover
            }
        }
        return state.isOffsetKnown ? append(state, options) : .ask
    }

    private static func append(_ state: UploadState, _ options: UploadOptions) -> UploadAction {
        let left = state.size - state.offset
        var count = min(left, max(1, state.limits.greatestAppend ?? .max))
        let isChecked = options.dialect == .tus && state.takesChecksums && !state.avoidsDigests
        if isChecked { count = min(count, max(Self.digestedLimit, state.limits.leastAppend ?? 0)) }
        // What breaks off counts for nothing once it has a digest, so that long ones have none:
        // Repr-Digest tells of the whole.
        let isLimited = state.limits.greatestAppend != nil
        let most = isChecked || isLimited ? Self.digestedLimit : Self.shortLimit
        let isDigested =
            !state.avoidsDigests && count > 0 && count <= most
            && (options.dialect.isResumable || isChecked)
        return .append(state.offset..<state.offset + count, isDigested: isDigested)
    }

    /// In bytes: what a cut costs at most.
    private static let digestedLimit: Int64 = 4 << 20
    /// In bytes, of an append that the origin does not want to be short.
    private static let shortLimit: Int64 = 65_536

    /// Whether it goes to the upload resource, and not to the task's URL.
    var isOfResource: Bool {
        switch self {
        case .ask, .append, .cancel: true
        case .discover, .create, .sendWhole: false
        }
    }

    func method(_ options: UploadOptions) -> String {
        switch self {
        case .discover: "OPTIONS"
        case .create, .sendWhole: options.effectiveMethod
        case .ask: "HEAD"
        case .append: "PATCH"
        case .cancel: "DELETE"
        }
    }

    // MARK: Fields

    /// What the request says.
    ///
    /// - Parameters:
    ///   - name: of the file, without its folder.
    ///   - digest: SHA-256 of what is appended; `nil` for none.
    func fields(
        _ state: UploadState, _ options: UploadOptions, name: String, digest: [UInt8]? = nil
    ) -> [TransferField] {
        let dialect = options.dialect
        var fields = dialect.mark.map { [TransferField($0.name, $0.value)] } ?? []
        func complete(_ isComplete: Bool) {
            guard dialect.isResumable else { return }
            let value = dialect.completionValue(isComplete)
            fields.append(TransferField(dialect.completionName, value))
        }
        switch self {
        case .discover, .ask, .cancel: break
        case .create:
            complete(false)
            fields += Self.description(state, options, name)
        case .sendWhole:
            complete(true)
            fields += Self.description(state, options, name) + Self.wish
        case .append(let range, _):
            complete(range.upperBound == state.size)
            fields.append(TransferField("Upload-Offset", String(range.lowerBound)))
            fields.append(TransferField("Content-Type", Self.appendType(options)))
            if let digest {
                let text = Base64.encode(digest)
                fields.append(
                    dialect == .tus
                        ? TransferField("Upload-Checksum", "sha256 \(text)")
                        : TransferField("Content-Digest", "sha-256=:\(text):"))
            }
            fields += Self.wish
        }
        return fields
    }

    private static func appendType(_ options: UploadOptions) -> String {
        if options.dialect == .tus { return "application/offset+octet-stream" }
        return options.dialect.needsPartialType
            ? "application/partial-upload" : options.effectiveType
    }

    /// What is said of the whole.
    private static func description(
        _ state: UploadState, _ options: UploadOptions, _ name: String
    ) -> [TransferField] {
        var fields: [TransferField] = []
        let length = TransferField("Upload-Length", String(state.size))
        if options.dialect == .tus {
            let pairs = [("filename", name), ("filetype", options.effectiveType)]
            let text = pairs.filter { !$0.1.isEmpty }
                .map { "\($0) \(Base64.encode([UInt8]($1.utf8)))" }
            return [
                length, TransferField("Upload-Metadata", text.joined(separator: ",")),
            ]
        }
        if options.dialect.tellsLengthAndLimit { fields.append(length) }
        if options.mode == .form {
            let boundary = FormFrame.boundary(state.source.sha256)
            return [TransferField("Content-Type", "multipart/form-data; boundary=\(boundary)")]
        }
        fields.append(TransferField("Content-Type", options.effectiveType))
        let digest = Base64.encode(state.source.sha256)
        fields.append(TransferField("Repr-Digest", "sha-256=:\(digest):"))
        // PUT names its target.
        if !options.isIdempotent, let value = disposition(name) {
            fields.append(TransferField("Content-Disposition", value))
        }
        return fields
    }

    /// RFC 6266 §4.1; `nil` for a name that is no plain text.
    private static func disposition(_ name: String) -> String? {
        guard !name.isEmpty, name.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return nil }
        return "attachment; filename=\"\(FormFrame.escaped(name))\""
    }

    private static let wish = [TransferField("Want-Repr-Digest", "sha-256=10")]
}

/// What stands around the one file of a form (RFC 7578).
struct FormFrame: Sendable {
    let before: [UInt8]
    let after: [UInt8]

    init(_ state: UploadState, _ options: UploadOptions, name: String) {
        let boundary = Self.boundary(state.source.sha256)
        let disposition =
            "form-data; name=\"\(Self.escaped(options.field))\"; filename=\"\(Self.escaped(name))\""
        before = [UInt8](
            ("--\(boundary)\r\nContent-Disposition: \(disposition)\r\n"
                + "Content-Type: \(options.effectiveType)\r\n\r\n").utf8)
        after = [UInt8]("\r\n--\(boundary)--\r\n".utf8)
    }

    /// One that the file cannot have in it but by breaking SHA-256, as it is made of its digest.
    static func boundary(_ sha256: [UInt8]) -> String { "sallyport-" + sha256.prefix(24).hex }

    /// As browsers do it (HTML §4.10.21.8).
    static func escaped(_ name: String) -> String {
        name.replacing("\"", with: "%22").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }
}
