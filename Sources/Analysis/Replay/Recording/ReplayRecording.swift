internal import Base
internal import HTTPModel
internal import Synchronization
package import Traffic

/// The responses of a capture, to be found by requests.
///
/// Where exchanges stand is held in memory, a few dozen bytes each; heads and contents are read when
/// they are asked for.
///
/// `@unchecked Sendable`: everything that changes is used under `lock` alone.
package final class ReplayRecording: @unchecked Sendable {
    package let options: ReplayOptions
    let rule: MatchRule
    let digests: ReplayDigests
    private let lock = Mutex(())
    private let source: any TrafficSource
    private var lists: [RequestPlace: ExchangeList] = [:]
    private var loopback = LoopbackOrigins()
    /// The lists in the order of the recording.
    private var inOrder: [ExchangeList] = []
    private var held: [Int64: RecordedResponse] = [:]
    private var heldWeight = 0
    private var dialogues: [DialoguePlace: [Int64]] = [:]
    private var dialogueUses: [DialoguePlace: Int] = [:]
    private var protocols: [DialoguePlace: Set<String>] = [:]
    /// How many exchanges can be answered, and how many of the capture cannot.
    package private(set) var counts = (answers: 0, leftOut: 0)

    /// Reads where everything stands; `source` belongs to the recording from then on.
    package init(
        _ source: any TrafficSource, options: ReplayOptions, digests: ReplayDigests
    ) throws {
        self.source = source
        self.options = options
        self.digests = digests
        rule = MatchRule(options.rules)
        try source.exchanges { record in
            add(record)
            return true
        }
        try source.connections { record in
            add(record)
            return true
        }
    }

    private func add(_ record: ExchangeRecord) {
        guard !record.answeredByTool, record.status > 0, !record.responseHead.isEmpty,
            let facts = RecordedHeads.request(of: record)
        else {
            counts.leftOut += 1
            return
        }
        loopback.add(facts.origin)
        let place = rule.place(of: facts)
        let list = lists[place] ?? ExchangeList(place)
        if list.exchanges.isEmpty {
            lists[place] = list
            inOrder.append(list)
        }
        list.exchanges.append(record.id)
        counts.answers += 1
    }

    private func add(_ record: ConnectionRecord) {
        let place = DialoguePlace(host: record.originHost, port: record.originPort)
        if LoopbackHost.contains(place.host) { loopback.add(Self.origin(place)) }
        if let alpn = record.clientTLS?.alpn { protocols[place, default: []].insert(alpn) }
        if record.messageCount > 0, record.exchangeCount == 0 {
            dialogues[place, default: []].append(record.id)
        }
    }

    // MARK: Requests

    /// What was found for a request.
    enum Find {
        case answer(RecordedResponse)
        case exhausted
        case unknown
    }

    /// Looks for the answer to a whole request, and takes it.
    func find(_ facts: RequestFacts) -> Find {
        lock.withLock { _ in
            var found = Find.unknown
            for origin in loopback.spellings(of: facts.origin) {
                let next = locate(facts.at(origin))
                if case .answer = next { return next }
                if case .unknown = found { found = next }
            }
            return found
        }
    }

    private func locate(_ facts: RequestFacts) -> Find {
        guard let list = lists[rule.place(of: facts)] else { return .unknown }
        sort(list)
        var group = list.strict[Self.mark(rule.items(of: facts))]
        if group == nil {
            let items = rule.items(of: facts, isStrict: false)
            group = list.loose[Self.mark(items)] ?? list.partial[Self.mark(items.withoutContent)]
        }
        guard let group else { return .unknown }
        guard let index = group.next(options.order, isUsed: { list.used.contains($0) }) else {
            return .exhausted
        }
        list.used.insert(index)
        guard let answer = answer(list.exchanges[index]) else { return .unknown }
        return .answer(answer)
    }

    /// Whether anything is recorded for the place that a request is for.
    func knows(_ facts: RequestFacts) -> Bool {
        lock.withLock { _ in
            loopback.spellings(of: facts.origin).contains {
                lists[rule.place(of: facts.at($0))] != nil
            }
        }
    }

    /// Groups the exchanges of a list by what counts of their requests, once.
    private func sort(_ list: ExchangeList) {
        guard !list.isSorted else { return }
        list.isSorted = true
        for (index, exchange) in list.exchanges.enumerated() {
            guard let (facts, record) = recorded(exchange) else { continue }
            let items = rule.items(of: facts, isStrict: false)
            guard record.hasWholeRequest(facts.fields) else {
                let mark = Self.mark(items.withoutContent)
                EqualRequests.of(mark, in: &list.partial).members.append(index)
                continue
            }
            let strict = Self.mark(rule.items(of: facts))
            let loose = Self.mark(items)
            EqualRequests.of(strict, in: &list.strict).members.append(index)
            EqualRequests.of(loose, in: &list.loose).members.append(index)
        }
    }

    private static func mark(_ items: [MatchRule.Item]) -> Int {
        var hasher = Hasher()
        for item in items { hasher.combine(item) }
        return hasher.finalize()
    }

    // MARK: What is recorded

    /// The request of an exchange, with its content.
    func request(of exchange: Int64) -> RequestFacts? {
        lock.withLock { _ in recorded(exchange)?.facts }
    }

    private func recorded(_ exchange: Int64) -> (facts: RequestFacts, record: ExchangeRecord)? {
        attempt {
            guard let record = try source.exchange(exchange),
                var facts = RecordedHeads.request(of: record)
            else { return nil }
            guard record.requestBody.size > 0 else { return (facts, record) }
            let limit = facts.isGRPC ? try openingCount(of: record) : nil
            facts.body = try body(of: record, facts, messageLimit: limit)
            return (facts, record)
        }
    }

    /// How many messages of gRPC the client sent before it had the first answer.
    private func openingCount(of record: ExchangeRecord) throws -> Int {
        var count = 0
        try source.messages(ofConnection: record.connection, exchange: record.id) { message in
            if message.kind == .grpc, message.direction == .request { count += 1 }
            return message.direction == .request
        }
        return count
    }

    private func body(
        of record: ExchangeRecord, _ facts: RequestFacts, messageLimit: Int?
    ) throws -> BodyForm {
        var content = RequestContent(limit: options.contentLimit, digests)
        try source.body(ofExchange: record.id, .request) { bytes in
            content.append(bytes.span)
            return true
        }
        return content.form(facts.fields, messageLimit: messageLimit)
    }

    /// The answer of an exchange, held or read anew.
    private func answer(_ exchange: Int64) -> RecordedResponse? {
        if let answer = held[exchange] { return answer }
        let made: RecordedResponse? = attempt {
            guard let record = try source.exchange(exchange) else { return nil }
            return try RecordedResponse(record, from: source, options)
        }
        guard let made else { return nil }
        if heldWeight + made.weight > options.heldLimit {
            held = [:]
            heldWeight = 0
        }
        held[exchange] = made
        heldWeight += made.weight
        return made
    }

    /// The next piece of a response's content that is not held.
    func piece(of exchange: Int64, from offset: Int64) -> [UInt8] {
        lock.withLock { _ in
            attempt {
                var piece: [UInt8] = []
                try source.body(ofExchange: exchange, .response, from: offset) { bytes in
                    piece = bytes
                    return bytes.isEmpty
                }
                return piece
            } ?? []
        }
    }

    /// A capture that can no longer be read has no answers: the request is told so as a miss.
    private func attempt<Result>(_ body: () throws -> Result?) -> Result? {
        do {
            return try body()
        } catch {
            return nil
        }
    }

    // MARK: Dialogues

    /// The messages of the next dialogue that was recorded with a place; `nil` if there is none.
    func dialogue(with host: String, _ port: UInt16) -> DialogueScript? {
        lock.withLock { _ in
            let place = self.place(of: host, port) { dialogues[$0] != nil }
            guard let known = dialogues[place] else { return nil }
            let use = dialogueUses[place, default: 0]
            dialogueUses[place] = use + 1
            guard let index = options.order.index(ofUse: use, among: known.count) else {
                return nil
            }
            return script(ofConnection: known[index], exchange: nil)
        }
    }

    /// The messages of a stream inside of an exchange.
    func script(of answer: RecordedResponse) -> DialogueScript {
        lock.withLock { _ in
            script(ofConnection: answer.connection, exchange: answer.exchange) ?? DialogueScript()
        }
    }

    private func script(ofConnection id: Int64, exchange: Int64?) -> DialogueScript? {
        attempt {
            var script = DialogueScript()
            var size = 0
            try source.messages(ofConnection: id, exchange: exchange) { message in
                size += message.bytes.count
                guard exchange != nil || message.exchange == nil else { return true }
                guard size <= options.scriptLimit else { return false }
                script.add(message)
                return true
            }
            return script
        }
    }

    /// What ALPN agreed on with clients of a place.
    package func protocols(of host: String, _ port: UInt16) -> Set<String> {
        lock.withLock { _ in
            protocols[place(of: host, port) { protocols[$0] != nil }] ?? []
        }
    }

    /// Where something is recorded of an origin: with the host as it is called, or on this machine
    /// with another spelling of it.
    private func place(
        of host: String, _ port: UInt16, isKnown: (DialoguePlace) -> Bool
    ) -> DialoguePlace {
        let asked = DialoguePlace(host: host, port: port)
        guard !isKnown(asked), LoopbackHost.contains(host) else { return asked }
        return loopback.spellings(of: Self.origin(asked)).lazy.compactMap(Self.place)
            .first(where: isKnown) ?? asked
    }

    /// A place as `LoopbackOrigins` has it.
    private static func origin(_ place: DialoguePlace) -> String {
        "tcp://\(HostPort(host: place.host, port: place.port))"
    }

    private static func place(_ origin: String) -> DialoguePlace? {
        HostPort(String(origin.dropFirst("tcp://".count))).map {
            DialoguePlace(host: $0.host, port: $0.port)
        }
    }

    /// A request with its origin as a recorded one has it, where both mean the same.
    func aligned(_ facts: RequestFacts, with recorded: RequestFacts) -> RequestFacts {
        lock.withLock { _ in
            loopback.spellings(of: facts.origin).contains(recorded.origin)
                ? facts.at(recorded.origin) : facts
        }
    }

    // MARK: Near misses

    /// Calls `body` with every list, in the order of the recording.
    func withLists<Result>(_ body: ([ExchangeList]) -> Result) -> Result {
        lock.withLock { _ in body(inOrder) }
    }
}

struct DialoguePlace: Hashable {
    let host: String
    let port: UInt16
}

/// The exchanges with one method, origin and path, in the order of the recording.
final class ExchangeList {
    let place: RequestPlace
    fileprivate(set) var exchanges: [Int64] = []
    fileprivate var isSorted = false
    /// By what counts, and by what counts without the client's wishes.
    fileprivate var strict: [Int: EqualRequests] = [:]
    fileprivate var loose: [Int: EqualRequests] = [:]
    /// Those whose requests' contents are not known to their ends, by what else counts.
    fileprivate var partial: [Int: EqualRequests] = [:]
    fileprivate var used: Set<Int> = []

    init(_ place: RequestPlace) {
        self.place = place
    }
}

/// Exchanges whose requests are equal, by their places on the list.
final class EqualRequests {
    var members: [Int] = []
    private var uses = 0

    /// The group of a mark, made if there is none.
    static func of(_ mark: Int, in groups: inout [Int: EqualRequests]) -> EqualRequests {
        let group = groups[mark] ?? EqualRequests()
        groups[mark] = group
        return group
    }

    /// - Parameter isUsed: whether another group has given an exchange already.
    func next(_ order: ReplayOrder, isUsed: (Int) -> Bool) -> Int? {
        if order == .sequence || order == .stay {
            while uses < members.count, isUsed(members[uses]) { uses += 1 }
        }
        guard let index = order.index(ofUse: uses, among: members.count) else { return nil }
        uses += 1
        return members[index]
    }
}

extension [MatchRule.Item] {
    fileprivate var withoutContent: [MatchRule.Item] {
        filter { item in
            if case .body = item.part { return false }
            return true
        }
    }
}

extension ExchangeRecord {
    /// Whether the request's content was recorded to its end: an origin may answer before it, and
    /// what was not sent cannot be compared with.
    fileprivate func hasWholeRequest(_ fields: Fields) -> Bool {
        guard !requestBody.isTruncated else { return false }
        guard let announced = fields.first(.contentLength) else { return true }
        return Int64(announced.text) == requestBody.size
    }
}

extension ReplayOrder {
    /// - Returns: `nil` once there is none any more.
    func index(ofUse use: Int, among count: Int) -> Int? {
        guard count > 0 else { return nil }
        return switch self {
        case .sequence: use < count ? use : nil
        case .stay: min(use, count - 1)
        case .cycle: use % count
        case .first: 0
        case .last: count - 1
        }
    }
}
