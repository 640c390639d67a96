internal import Base
internal import Contents
internal import Traffic

/// Under what a transfer is found again.
struct TransferKey: Hashable {
    let address: String
    /// `GET`, `upload`, or the method of what is sent whole.
    let kind: String
    /// Normalised.
    let url: [UInt8]
}

/// A part that a server keeps by its number.
struct NumberedPart {
    let exchange: Int64
    let form: ContentForm
    /// Of what the server stores, in bytes; `nil` if that is not told.
    let count: Int64?
    /// Whether what the server stores passed.
    let hasPassed: Bool

    init(_ part: TransferPart, _ stored: StoredPart) {
        exchange = part.exchange
        form = part.form
        switch stored {
        case .content: (count, hasPassed) = (part.bytes, true)
        case .other(let count): (self.count, hasPassed) = (count, false)
        }
    }
}

/// A version while parts of it come.
struct OpenVersion {
    var identity = VersionIdentity()
    var total: Int64?
    var map: ByteMap
    var sameness: Sameness?
    /// Whether more than a probe has seen it.
    var isFirm = true
    /// Whether it holds bytes that did not pass, or that nobody could read.
    var isUnreadable = false

    /// Whether anything but the size is known of it, which a refused range tells, too.
    var isKnown: Bool { !map.stretches.isEmpty || identity != .init() }

    var isComplete: Bool {
        guard let total, map.heldCount >= total else { return false }
        return map.missing(of: total).isEmpty
    }
}

/// A transfer that may go on.
final class OpenTransfer {
    let id: Int64
    let key: TransferKey
    let client: TransferClient
    let direction: Direction
    let method: TransferMethod
    let httpMethod: String
    let url: [UInt8]
    var parts: [TransferPart] = []
    private(set) var leftOut = 0
    var versions: [OpenVersion] = []
    var notes: [TransferNote] = []
    /// Digests of single parts, to be checked at the end.
    private(set) var contentClaims: [(part: Int, claims: [ClaimedDigest])] = []
    /// Of an upload: the numbered parts that a server took.
    var numbered: [Int64: NumberedPart] = [:]
    /// Of an upload: the numbers of those that it was put together of, if that was told.
    var listed: [Int64]?
    /// Of an upload: the server has said that it has everything.
    var isFinished = false
    var isCancelled = false
    /// Whether it would be worth telling although it is one exchange.
    var isNotable = false
    private(set) var lastExchange: Int64
    /// Parts and their ranges: what grows.
    private(set) var partWeight = 0
    let limits: TransferLimits

    init(
        _ heads: TransferHeads, key: TransferKey, client: TransferClient, direction: Direction,
        method: TransferMethod, limits: TransferLimits
    ) {
        id = heads.exchange.id
        lastExchange = id
        self.key = key
        self.client = client
        self.direction = direction
        self.method = method
        httpMethod = heads.method
        url = heads.url
        self.limits = limits
    }

    /// Programs tell clients of one machine apart, where they are known.
    func isOf(_ other: TransferClient) -> Bool {
        client.program == nil || other.program == nil || client.program == other.program
    }

    func append(_ part: TransferPart, claims: [ClaimedDigest] = []) {
        lastExchange = part.exchange
        guard parts.count < limits.parts else {
            leftOut += 1
            return
        }
        if !claims.isEmpty { contentClaims.append((parts.count, claims)) }
        parts.append(part)
        partWeight += 1 + part.ranges.count
    }

    /// A long URL counts as several transfers.
    var weight: Int { 1 + url.count / 1024 }

    /// Takes the last version back, which only probes have seen.
    func dropLastVersion() {
        versions.removeLast()
        for index in parts.indices where parts[index].version == versions.count {
            parts[index].version = nil
        }
    }

    /// How many times something was tried; a probe fetches nothing.
    var attempts: Int { parts.count { $0.method != "HEAD" } + leftOut }

    /// Whether nothing more is needed of it.
    var isComplete: Bool { isFinished || isCancelled || versions.last?.isComplete ?? false }

    /// Whether a person asked for it: see `TransferLedger`.
    var isWorthTelling: Bool { isNotable || attempts > 1 }

    func note(_ code: TransferNote.Code, _ detail: String = "") {
        let note = TransferNote(code, detail)
        if !notes.contains(note), notes.count < Self.noteLimit { notes.append(note) }
    }

    private static let noteLimit = 64
}
