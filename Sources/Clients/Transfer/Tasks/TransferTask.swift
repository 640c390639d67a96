package import Base

/// A download or an upload that a service owns, as it stands.
package struct TransferTask: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case download
        case upload
    }

    /// A UUID; also the name of the task's folder.
    package let identifier: String
    /// Under which its owner finds it again.
    package let session: String
    package let kind: Kind
    package let url: String
    /// Where a download goes: `nil` keeps it in the task's folder until it is acknowledged. What an
    /// upload sends.
    package let file: String?
    package let createdAt: Timestamp
    package var options: TransferOptions
    package var state = TransferState.suspended
    /// In bytes, on the disk, or of an upload what its origin has confirmed: never more than is there
    /// after a crash.
    package var committed: Int64 = 0
    /// In bytes; `nil` while it is not known.
    package var total: Int64?
    /// Of an upload, the end of what has gone out in this attempt, in bytes; `nil` for nothing.
    package var sent: Int64?
    /// In bytes a second, over the last seconds; `nil` while nothing comes.
    package var rate: Int64?
    /// The URLs that led from `url` to where the content is.
    package var hops: [String] = []
    /// Why it began anew, each time.
    package var restarts: [String] = []
    /// Requests that were sent for it since the service was opened.
    package var requestCount = 0
    /// SHA-256 of a completed transfer; `nil` where none was taken (`TransferLimits.digestedSize`).
    package var digest: [UInt8]?
    /// Where a completed download is, or the URL of what an upload has become.
    package var path: String?

    package init(_ plan: TransferPlan, identifier: String, createdAt: Timestamp) {
        self.identifier = identifier
        self.createdAt = createdAt
        session = plan.session
        kind = plan.kind
        url = plan.url
        file = plan.file
        options = plan.options
    }

    /// How far it is, in bytes: what has gone out of an upload need not have arrived.
    package var reach: Int64 { max(committed, sent ?? 0) }

    /// What is left, in seconds, at the present rate.
    package var secondsLeft: Int64? {
        guard let total, let rate, rate > 0 else { return nil }
        let left = max(0, total - reach)
        return left / rate + (left % rate > 0 ? 1 : 0)
    }
}

/// What a task is made from.
package struct TransferPlan: Sendable, Equatable {
    package var session: String
    package var kind: TransferTask.Kind
    package var url: String
    package var file: String?
    package var options = TransferOptions()

    package init(
        _ kind: TransferTask.Kind = .download, _ url: String, file: String? = nil,
        session: String = "default"
    ) {
        self.kind = kind
        self.url = url
        self.file = file
        self.session = session
    }
}
