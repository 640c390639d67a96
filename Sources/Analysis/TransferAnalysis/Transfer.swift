package import Base
package import Traffic

/// Every attempt at one resource by one client, as the one thing that it is to a person.
package struct Transfer: Sendable {
    /// The number of its first exchange.
    package let id: Int64
    package let direction: Direction
    package let method: TransferMethod
    package let client: TransferClient
    /// The method of the first request that is no HEAD, if there is any.
    package let httpMethod: String
    /// As it was recorded, with its secrets; of a multipart upload without its query, which says
    /// only what one request does.
    package let url: [UInt8]
    /// Where the parts of an upload go, if that is elsewhere; normalised, with its secrets.
    package let uploadURL: [UInt8]?
    package let state: TransferState
    /// In the order of their exchanges.
    package let parts: [TransferPart]
    /// Parts that were counted and not kept, because there were too many.
    package let leftOut: Int
    /// In the order seen; never empty. Bytes of two versions are never put together.
    package let versions: [TransferVersion]
    package let notes: [TransferNote]

    /// The version that the last part was about.
    package var current: TransferVersion {
        versions[parts.last { $0.version != nil }?.version ?? versions.count - 1]
    }
}

/// How the bytes were cut into requests; the raw values are a contract.
package enum TransferMethod: String, Sendable {
    /// Whole, or by ranges (RFC 9110 §14).
    case http
    /// tus 1.0 (tus.io/protocols/resumable-upload).
    case tus
    /// draft-ietf-httpbis-resumable-upload, any of its versions.
    case resumableUpload = "resumable-upload"
    /// Requests with Content-Range, as Google's and Microsoft's storage take them.
    case contentRange = "content-range"
    /// Numbered parts with an `uploadId`, as Amazon S3 takes them.
    case s3Multipart = "s3-multipart"
}

/// Where a transfer has got to; the raw values are a contract.
package enum TransferState: String, Sendable {
    /// Every byte passed, and a server took every byte of an upload.
    case complete
    case partial
    /// The resource became another one in between.
    case changed
    /// Bytes of one version that came twice were not the same.
    case conflicting
    /// The client gave the upload up.
    case cancelled
    /// No byte of it passed.
    case failed
}

/// Who made the requests: ports change from one attempt to the next, and so do processes.
package struct TransferClient: Sendable, Hashable {
    /// Without the port; empty if it is not known.
    package let address: String
    /// What the program is called, where this machine could tell.
    package let program: String?

    package init(address: String, program: String?) {
        self.address = address
        self.program = program
    }
}

/// One exchange of a transfer.
package struct TransferPart: Sendable {
    package let exchange: Int64
    package let startedAt: Timestamp
    package let method: String
    /// `nil` if no response came.
    package let status: Int?
    /// What the request said of its place: Range, Content-Range, Upload-Offset or a part's number.
    package var asked: String?
    package var ifRange: String?
    /// What the response said of it: Content-Range, Range or Upload-Offset.
    package var answered: String?
    /// Bytes of content that passed in the transfer's direction, without aws-chunked.
    package var bytes: Int64 = 0
    /// What stands in the recorded content.
    var form = ContentForm.plain
    /// `bytes` with aws-chunked; `nil` if there is none.
    var framedBytes: Int64?
    /// Whether less passed than was announced.
    package var endedEarly = false
    package var error: String?
    /// Which of the transfer's versions it belongs to; `nil` if it brought none.
    package var version: Int?
    /// Which bytes of the resource it brought.
    package var ranges: [Range<Int64>] = []
    package var digests: [DigestCheck] = []
    package var notes: [TransferNote] = []

    init(_ exchange: ExchangeRecord, method: String) {
        self.exchange = exchange.id
        startedAt = exchange.startedAt
        self.method = method
        status = exchange.status == 0 ? nil : exchange.status
        error = exchange.error
    }
}

/// What was put together of one version of the resource.
package struct TransferVersion: Sendable {
    package let identity: VersionIdentity
    package let state: TransferState
    /// In bytes, with the content coding; `nil` if nobody told.
    package let total: Int64?
    /// How sure it is that its parts are of one version; `nil` if there is only one.
    package let sameness: Sameness?
    /// Ascending and apart, as are the others.
    package let held: [Range<Int64>]
    package let missing: [Range<Int64>]
    /// What came more than once.
    package let twice: [Range<Int64>]
    /// What came more than once and was not the same.
    package let conflicting: [Range<Int64>]
    package let hash: WholeHash
    package let digests: [DigestCheck]

    package var heldCount: Int64 { held.byteCount }
}

/// The SHA-256 of a whole, or why there is none; the raw values are a contract.
package enum WholeHash: Sendable, Equatable {
    case sha256([UInt8])
    case none(Reason)

    package enum Reason: String, Sendable {
        case incomplete
        case conflicting
        /// The capture's own limit left some of it out.
        case notRecorded = "not-recorded"
    }
}

/// What is worth a word about a transfer or a part of it; the codes are a contract.
package struct TransferNote: Sendable, Equatable {
    package let code: Code
    package let detail: String

    package init(_ code: Code, _ detail: String = "") {
        self.code = code
        self.detail = detail
    }

    package enum Code: String, Sendable {
        /// A Range was asked for, and the whole came.
        case rangeIgnored = "range-ignored"
        /// A part came that nobody asked for.
        case rangeUnasked = "range-unasked"
        /// The part is not the one that was asked for.
        case rangeDiffers = "range-differs"
        /// A part does not say where it belongs, or what it says makes no sense.
        case unplaced
        /// More came than was announced.
        case tooLong = "too-long"
        /// Parts of a multipart/byteranges that cannot be read.
        case multipartMalformed = "multipart-malformed"
        /// A condition on a part was not for a strong validator.
        case weakCondition = "weak-condition"
        /// The resource was found to be another one, and why.
        case changed
        /// Bytes that came twice could not all be compared.
        case notCompared = "not-compared"
        /// The server is at another offset than the client.
        case offsetMismatch = "offset-mismatch"
        /// The server took the part from another object, and its bytes did not pass.
        case copied
        /// The framing of a part (aws-chunked) cannot be read.
        case chunksMalformed = "chunks-malformed"
        /// The answer is a success by its status and a failure by its document.
        case errorDocument = "error-document"
        /// Numbered parts of an upload are not there.
        case partsMissing = "parts-missing"
        /// Where the content ended, nothing but the connection's end tells.
        case endedByClose = "ended-by-close"
        case tooManyParts = "too-many-parts"
        case tooManyVersions = "too-many-versions"
        /// Too many transfers were open; what came later is told as another one.
        case evicted
    }
}

extension [Range<Int64>] {
    package var byteCount: Int64 { reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }
}
