internal import Base
internal import HTTPModel

/// A request's content while it comes: held up to a limit, and known by its digest beyond.
struct RequestContent {
    private(set) var bytes: [UInt8] = []
    private let limit: Int
    private let digests: ReplayDigests
    private var digest: (any RunningDigest)?
    private var size: Int64 = 0

    init(limit: Int, _ digests: ReplayDigests) {
        self.limit = limit
        self.digests = digests
    }

    var isLong: Bool { digest != nil }

    mutating func append(_ piece: Span<UInt8>) {
        size += Int64(piece.count)
        if digest == nil, bytes.count + piece.count <= limit {
            unsafe piece.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
            return
        }
        let running = digest ?? digests.makeSHA256()
        if digest == nil {
            running.update(bytes)
            bytes = []
            digest = running
        }
        running.update(unsafe piece.withUnsafeBufferPointer { unsafe [UInt8]($0) })
    }

    /// What is compared of it; to be called once if it is long.
    func form(_ fields: Fields, messageLimit: Int? = nil) -> BodyForm {
        if let digest { return BodyForm(size: size, sha256: digest.finish()) }
        return BodyForm(bytes, of: fields, messageLimit: messageLimit)
    }
}
