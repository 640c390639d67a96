internal import Base

/// What the records of a journal say together.
struct JournalState: Equatable {
    private(set) var plan: TransferPlan
    let createdAt: Timestamp
    private(set) var isResumed = false
    /// The network that it is for; `nil` for any.
    private(set) var network: String?
    private(set) var saved: SavedVersion?
    /// What is on the disk, in bytes of the content.
    private(set) var committed = RangeSet<Int64>()
    /// By the end of what they are of.
    private(set) var checks: [Int64: BlockCheck] = [:]
    private(set) var hops: [String] = []
    private(set) var restarts: [String] = []
    private(set) var restartCount = 0
    private(set) var verified: VerifiedContent?
    private(set) var ending: Ending?
    private(set) var upload: [UInt8]?
    /// Events that are kept, in order; their numbers count from 1.
    private(set) var events: [KeptEvent] = []
    private(set) var acknowledged: Int64 = 0
    private(set) var delivered: Int64 = 0

    enum Ending: Equatable {
        case completed(path: String)
        case failed(Failure)
        case cancelled
    }

    struct KeptEvent: Equatable {
        let number: Int64
        let kind: TransferEvent.Kind
    }

    init(_ plan: TransferPlan, createdAt: Timestamp) {
        self.plan = plan
        self.createdAt = createdAt
    }

    /// Of the content, from its start on without a gap, in bytes.
    var prefix: Int64 {
        guard let first = committed.ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    /// All of it, in bytes.
    var committedCount: Int64 {
        committed.ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) }
    }

    /// Which login is wanted, while nobody has let the task go on: one that was refused is not to be
    /// sent again by every start.
    private(set) var loginAsked: TransferEvent.Kind?

    /// How long the origin wants to be left alone, and why, while nobody has let the task go on.
    private(set) var pause: Pause?

    struct Pause: Equatable {
        let until: Timestamp
        let failure: Failure
    }

    var isCancelled: Bool { ending == .cancelled }

    var pendingEvents: [KeptEvent] { events.filter { $0.number > acknowledged } }

    /// As few records as say the same, as long as the task has not ended.
    var records: [JournalRecord] {
        var records = [JournalRecord.created(plan, at: createdAt), .resumed(isResumed)]
        if let network { records.append(.network(network)) }
        for number in 0..<restartCount {
            records.append(.restarted(number < restarts.count ? restarts[number] : ""))
        }
        if let saved { records.append(.head(saved)) }
        records += hops.map { .hop($0) }
        for range in committed.ranges {
            guard let check = checks[range.upperBound] else { continue }
            records.append(.progress(check, from: range.lowerBound))
        }
        if let verified { records.append(.verified(verified)) }
        if let upload { records.append(.upload(upload)) }
        for event in events {
            guard case .authentication(let schemes, let host) = event.kind else { continue }
            records.append(.authenticationAsked(schemes: schemes, host: host))
        }
        // Behind what asks: it was answered.
        if loginAsked == nil, !events.isEmpty { records.append(.resumed(isResumed)) }
        if let pause { records.append(.pauseAsked(until: pause.until, pause.failure)) }
        return records + [.delivered(delivered), .acknowledged(acknowledged)]
    }

    mutating func apply(_ record: JournalRecord) {
        switch record {
        case .created: break
        case .optionsChanged(let options):
            plan.options = options
            letGo()
        case .resumed(let isResumed):
            self.isResumed = isResumed
            letGo()
        case .network(let network): self.network = network
        case .head(let version):
            saved = version
            pause = nil
        case .hop(let url):
            if hops.count < Self.listLimit { hops.append(url) }
        case .progress(let check, let start):
            pause = nil
            committed.insert(contentsOf: start..<check.end)
            checks[check.end] = check
            checks = checks.filter { end, _ in committed.isEnd(end) }
        case .forgotten:
            committed = RangeSet()
            checks = [:]
            verified = nil
        case .restarted(let reason): restart(reason)
        case .verified(let content): verified = content
        case .completed(let path):
            end(.completed(path: path), .completed)
            // Nothing goes on from here; there may be many that wait for an acknowledgement.
            saved = nil
            checks = [:]
        case .failed(let failure): end(.failed(failure), .failed(failure))
        case .cancelled:
            if ending == nil { ending = .cancelled }
        case .authenticationAsked(let schemes, let host):
            pause = nil
            keep(.authentication(schemes: schemes, host: host))
            loginAsked = .authentication(schemes: schemes, host: host)
        case .pauseAsked(let time, let failure): pause = Pause(until: time, failure: failure)
        case .delivered(let number): delivered = max(delivered, number)
        case .acknowledged(let number): acknowledged = max(acknowledged, number)
        case .upload(let value):
            upload = value
            pause = nil
        }
    }

    /// What held the task back is the owner's to know, who wants it to go on.
    private mutating func letGo() {
        loginAsked = nil
        pause = nil
    }

    private mutating func restart(_ reason: String) {
        pause = nil
        saved = nil
        committed = RangeSet()
        checks = [:]
        verified = nil
        upload = nil
        hops = []
        restartCount += 1
        if restarts.count < Self.listLimit { restarts.append(reason) }
    }

    /// A task ends once, whatever a journal says.
    private mutating func end(_ ending: Ending, _ event: TransferEvent.Kind) {
        guard self.ending == nil else { return }
        self.ending = ending
        keep(event, isLast: true)
    }

    /// - Parameter isLast: whether it is the end, which is kept however many logins were asked for.
    private mutating func keep(_ kind: TransferEvent.Kind, isLast: Bool = false) {
        guard events.count < Self.listLimit || isLast else { return }
        events.append(KeptEvent(number: Int64(events.count) + 1, kind: kind))
    }

    private static let listLimit = 64
}

extension RangeSet<Int64> {
    fileprivate func isEnd(_ place: Int64) -> Bool {
        ranges.contains { $0.upperBound == place }
    }
}
