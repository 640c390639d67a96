package import Base
internal import Redaction
package import Transfer

extension TransferTask {
    /// A line in the schema `sallyport.transfer-task/1`, without secrets in URLs.
    package var shownRow: [UInt8] { row(URLRedaction.redact).line }

    package var shownURL: String { URLRedaction.redact(url) }

    /// What failed, without secrets in URLs.
    package var shownFailure: Failure? { failure?.shown }
}
