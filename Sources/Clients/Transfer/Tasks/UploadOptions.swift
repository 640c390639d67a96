package import Base
package import Contents

/// How an upload sends its file.
package struct UploadOptions: Sendable, Hashable {
    /// The raw values are a contract.
    package enum Mode: String, Sendable, CaseIterable {
        /// In one request, and on where it broke off if the origin offers that.
        case automatic
        /// In one request.
        case put
        /// As the one file of a form.
        case form
        /// To an upload resource that is made first (draft-ietf-httpbis-resumable-upload).
        case resumable
        /// By tus 1.0.
        case tus
    }

    package var mode = Mode.automatic
    /// Of the IETF's resumable uploads: a draft, or the standard.
    package var version = UploadDialect.draft(8)
    /// `PUT` or `POST`; `nil` for what the mode has.
    package var method: String?
    /// The name of the form's field.
    package var field = "file"
    /// `nil` for `application/octet-stream`.
    package var contentType: String?

    package init() {}

    /// What is sent to the task's URL.
    package var effectiveMethod: String {
        switch mode {
        case .automatic, .put: method ?? "PUT"
        case .resumable: method ?? "POST"
        case .form, .tus: "POST"
        }
    }

    /// Whether the whole may be sent again, whatever came of it (RFC 9110 §9.2.2).
    package var isIdempotent: Bool { effectiveMethod == "PUT" }

    /// What the requests speak.
    package var dialect: UploadDialect {
        switch mode {
        case .automatic, .resumable: version
        case .put, .form: .plain
        case .tus: .tus
        }
    }

    package var effectiveType: String { contentType ?? "application/octet-stream" }

    /// Errors: `upload-invalid`.
    package func check() throws(Failure) {
        if let method {
            guard method == "PUT" || method == "POST" else {
                throw Self.invalid("its method is neither PUT nor POST")
            }
            guard method == effectiveMethod else {
                throw Self.invalid("\(mode.rawValue) uploads are sent by \(effectiveMethod)")
            }
        }
        guard version.isResumable else { throw Self.invalid("there is no such version") }
        guard !field.isEmpty, field.utf8.count <= 200, field.utf8.allSatisfy({ $0 >= 0x20 }) else {
            throw Self.invalid("the form's field has no name that can be sent")
        }
        let type = effectiveType
        guard type.utf8.count <= 200, type.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw Self.invalid("its media type cannot be sent")
        }
    }

    static func invalid(_ reason: String) -> Failure {
        Failure("upload-invalid", party: .client, "cannot upload: \(reason)")
    }
}
