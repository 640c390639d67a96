internal import Base
internal import Contents
internal import Redaction
package import Replay

extension MessagePart {
    /// What may be shown of a value of this part: a recorded secret would end up in the logs of a
    /// test, or in a file of rules that is kept beside it.
    package func shown(_ value: String) -> String {
        switch self {
        case .query(let name) where SecretName.isParameter(name): "***"
        case .body(let path) where Self.isSecret(path): "***"
        // Nothing is known of the secrets in a text or in XML.
        case .body(""): "***"
        case .body:
            ContentRedaction.redact(json: [UInt8](value.utf8), isSecret: false)?.text
                ?? URLRedaction.redact(value)
        case .query, .path: URLRedaction.redact(value)
        case .header(let name) where value != "(present)", .trailer(let name):
            HeadRedaction.redact(trailers: [UInt8]("\(name): \(value)".utf8))
                .dropFirst(name.utf8.count + 2).text
        default: value
        }
    }

    /// Whether a path, or a step of it, is named like a secret: of a long one, the start alone is
    /// judged.
    private static func isSecret(_ path: String) -> Bool {
        SecretName.isParameter(path)
            || Array(path.utf8).split { ".[]\"".utf8.contains($0) }
                .contains { SecretName.isParameter($0) }
    }
}
