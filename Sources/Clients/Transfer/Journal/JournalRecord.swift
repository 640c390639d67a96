package import Base
internal import Contents

/// What a journal says of its task, in order.
package enum JournalRecord: Sendable, Equatable {
    case created(TransferPlan, at: Timestamp)
    case optionsChanged(TransferOptions)
    /// Whether the owner wants it to go on.
    case resumed(Bool)
    /// Where its owner was, whose network it is for: `TransferConfiguration.network`.
    case network(String)
    /// The version that what is on the disk is of.
    case head(SavedVersion)
    case hop(String)
    /// These bytes are on the disk.
    case progress(BlockCheck, from: Int64)
    /// The disk lost some of what was said to be on it: what is still there follows.
    case forgotten
    /// Nothing on the disk counts any more.
    case restarted(String)
    /// What is on the disk is whole, and was compared with its digests; the rename comes next.
    case verified(VerifiedContent)
    case completed(path: String)
    case failed(Failure)
    case cancelled
    case authenticationAsked(schemes: [String], host: String)
    /// The origin wants to be left alone until then, for this.
    case pauseAsked(until: Timestamp, Failure)
    /// The owner was told up to this event.
    case delivered(Int64)
    /// The owner has said so.
    case acknowledged(Int64)
    /// What the upload's driver wants to know after a crash: an object of JSON.
    case upload([UInt8])

    /// Stand in files.
    fileprivate enum Kind: UInt8 {
        case created = 1
        case optionsChanged = 2
        case resumed = 3
        case head = 4
        case hop = 5
        case progress = 6
        case restarted = 7
        case verified = 8
        case completed = 9
        case failed = 10
        case cancelled = 11
        case authenticationAsked = 12
        case delivered = 13
        case acknowledged = 14
        case upload = 15
        case forgotten = 16
        case pauseAsked = 17
        case network = 18
    }
}

/// The end of what is on the disk, with a checksum of the bytes before it.
package struct BlockCheck: Sendable, Equatable {
    /// In bytes from the start.
    package let end: Int64
    /// How many bytes before `end` the checksum is of.
    package let count: Int
    /// CRC32C.
    package let checksum: UInt32

    /// In bytes: what is read again after a crash.
    static let size = 65_536
}

extension JournalRecord {
    /// The type and the payload.
    var coded: (kind: UInt8, payload: [UInt8]) {
        if case .upload(let payload) = self { return (Kind.upload.rawValue, payload) }
        let (kind, value) = parts
        return (kind.rawValue, value.line)
    }

    private var parts: (Kind, JSONText) {
        switch self {
        case .created(let plan, let time):
            (.created, ["at": .integer(time.microseconds), "plan": plan.journal])
        case .optionsChanged(let options): (.optionsChanged, options.journal)
        case .resumed(let isResumed): (.resumed, ["resumed": .boolean(isResumed)])
        case .network(let network): (.network, ["network": .string(network)])
        case .head(let version): (.head, version.journal)
        case .hop(let url): (.hop, ["url": .string(url)])
        case .progress(let check, let start):
            (
                .progress,
                [
                    "from": .integer(start), "end": .integer(check.end),
                    "count": .integer(Int64(check.count)),
                    "crc": .integer(Int64(check.checksum)),
                ]
            )
        case .forgotten: (.forgotten, [:])
        case .restarted(let reason): (.restarted, ["reason": .string(reason)])
        case .verified(let content): (.verified, content.journal)
        case .completed(let path): (.completed, ["path": .string(path)])
        case .failed(let failure): (.failed, failure.journal)
        case .cancelled: (.cancelled, [:])
        case .authenticationAsked(let schemes, let host):
            (.authenticationAsked, ["schemes": .texts(schemes), "host": .string(host)])
        case .pauseAsked(let time, let failure):
            (
                .pauseAsked,
                ["until": .integer(time.microseconds), "failure": failure.journal]
            )
        case .delivered(let number): (.delivered, ["event": .integer(number)])
        case .acknowledged(let number): (.acknowledged, ["event": .integer(number)])
        case .upload: (.upload, [:])
        }
    }

    /// `nil` for what this version does not know, or what is no record.
    init?(kind: UInt8, payload: [UInt8]) {
        guard let kind = Kind(rawValue: kind), let value = JSONObject(payload) else { return nil }
        switch kind {
        case .created, .optionsChanged, .resumed, .network, .head, .hop, .upload:
            self.init(description: kind, value, payload)
        case .progress, .forgotten, .restarted, .verified:
            self.init(progress: kind, value)
        case .completed, .failed, .cancelled, .authenticationAsked, .pauseAsked, .delivered,
            .acknowledged:
            self.init(ending: kind, value)
        }
    }

    private init?(description kind: Kind, _ value: JSONObject, _ payload: [UInt8]) {
        switch kind {
        case .created:
            guard let plan = value.object("plan").flatMap({ TransferPlan($0) }),
                let time = value.integer("at")
            else { return nil }
            self = .created(plan, at: Timestamp(recorded: time))
        case .optionsChanged: self = .optionsChanged(TransferOptions(value))
        case .resumed: self = .resumed(value.boolean("resumed") ?? false)
        case .network:
            guard let network = value.text("network") else { return nil }
            self = .network(network)
        case .head:
            guard let version = SavedVersion(value) else { return nil }
            self = .head(version)
        case .hop:
            guard let url = value.text("url") else { return nil }
            self = .hop(url)
        default: self = .upload(payload)
        }
    }

    private init?(progress kind: Kind, _ value: JSONObject) {
        switch kind {
        case .progress:
            guard let start = value.integer("from"), let end = value.integer("end"),
                let count = value.integer("count"), let checksum = value.integer("crc"),
                start >= 0, end > start, (0...Int64(BlockCheck.size)).contains(count),
                count <= end
            else { return nil }
            let check = BlockCheck(
                end: end, count: Int(count), checksum: UInt32(truncatingIfNeeded: checksum))
            self = .progress(check, from: start)
        case .forgotten: self = .forgotten
        case .restarted: self = .restarted(value.text("reason") ?? "")
        default:
            guard let content = VerifiedContent(value) else { return nil }
            self = .verified(content)
        }
    }

    private init?(ending kind: Kind, _ value: JSONObject) {
        switch kind {
        case .completed: self = .completed(path: value.text("path") ?? "")
        case .failed:
            guard let failure = Failure(value) else { return nil }
            self = .failed(failure)
        case .cancelled: self = .cancelled
        case .authenticationAsked:
            self = .authenticationAsked(
                schemes: value.texts("schemes") ?? [], host: value.text("host") ?? "")
        case .pauseAsked:
            guard let time = value.integer("until"),
                let failure = value.object("failure").flatMap({ Failure($0) })
            else { return nil }
            self = .pauseAsked(until: Timestamp(recorded: time), failure)
        case .delivered: self = .delivered(value.integer("event") ?? 0)
        default: self = .acknowledged(value.integer("event") ?? 0)
        }
    }
}
