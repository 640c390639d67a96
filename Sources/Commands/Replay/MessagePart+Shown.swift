internal import Base
internal import Redaction
internal import Replay

extension MessagePart {
    /// What may be shown of a value of this part: a recorded secret would end up in the logs of a
    /// test, or in a file of rules that is kept beside it.
    func shown(_ value: String) -> String {
        switch self {
        case .query(let name) where SecretName.isParameter(name): "***"
        case .body(let path) where SecretName.isParameter(path): "***"
        case .query, .body: URLRedaction.redact(value)
        case .header(let name) where value != "(present)":
            HeadRedaction.redact(trailers: [UInt8]("\(name): \(value)".utf8))
                .dropFirst(name.utf8.count + 2).text
        default: value
        }
    }
}
