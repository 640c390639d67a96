internal import Base
internal import HTTPModel
package import Proxy
internal import Redaction
package import Replay
internal import Synchronization
internal import TLS
package import Traffic
internal import Views

/// Answers the proxy's requests from a recording, and tells of those that it cannot.
package final class ReplayResponder: OriginResponder {
    package let fallsBack: Bool
    private let recording: ReplayRecording
    private let missed: @Sendable (ReplayMiss) -> Void
    private let misses = Atomic(0)
    private let requests = Atomic(0)
    private let first = Mutex<[ReplayMiss]>([])

    /// Reads a capture.
    ///
    /// - Parameter missed: called on the loops for each request without an answer.
    package init(
        _ source: any TrafficSource, _ options: ReplayOptions, fallsBack: Bool = false,
        missed: @escaping @Sendable (ReplayMiss) -> Void = { _ in }
    ) throws {
        recording = try ReplayRecording(
            source, options: options,
            digests: ReplayDigests(
                makeSHA256: { RunningHash(.sha256) }, sha1: { Digests.sha1($0) }))
        self.fallsBack = fallsBack
        self.missed = missed
    }

    /// How many responses were recorded, and exchanges without one.
    var counts: (answers: Int, leftOut: Int) { recording.counts }

    package var missCount: Int { misses.load(ordering: .relaxed) }

    /// The first requests without an answer.
    package var firstMisses: [ReplayMiss] { first.withLock { $0 } }

    /// How many requests came, and dialogues in other protocols.
    var requestCount: Int { requests.load(ordering: .relaxed) }

    /// What was agreed on in the recording comes first; a client that offers other versions of HTTP
    /// may have those, too.
    package func protocols(of host: String, _ port: UInt16, offering names: [String]) -> [String] {
        let known = recording.protocols(of: host, port)
        let http = ["h2", "http/1.1"]
        let other = known.subtracting(http).sorted()
        if !other.isEmpty, known.isDisjoint(with: http) { return other }
        return known == ["http/1.1"] && names.contains("http/1.1") ? ["http/1.1"] : http
    }

    package func respond(to request: ResponderRequest) -> (any ResponderExchange)? {
        requests.wrappingAdd(1, ordering: .relaxed)
        let facts = RequestFacts(
            method: request.head.method.text, isSecure: request.isSecure,
            authority: request.authority, target: request.target[...], fields: request.head.fields,
            opensWebSocket: request.opensWebSocket)
        if fallsBack, !recording.hasPlace(for: facts) { return nil }
        return ReplayResponderExchange(ReplayExchange(recording, facts)) { [self] miss in
            let shown = miss.withoutSecrets
            note(shown)
            return shown
        }
    }

    private func note(_ miss: ReplayMiss) {
        misses.wrappingAdd(1, ordering: .relaxed)
        first.withLock { if $0.count < Self.missLimit { $0.append(miss) } }
        missed(miss)
    }

    /// Nobody reads more.
    private static let missLimit = 8

    package func dialogue(with host: String, _ port: UInt16) -> (any ResponderDialogue)? {
        guard let dialogue = recording.play(host, port) else { return nil }
        requests.wrappingAdd(1, ordering: .relaxed)
        return ReplayResponderDialogue(dialogue) { [self] miss in note(miss) }
    }

    package func noteUnanswered(_ host: String, _ port: UInt16) {
        requests.wrappingAdd(1, ordering: .relaxed)
        note(ReplayMiss(host, port))
    }
}

/// A recording's exchange as the proxy sees one.
private final class ReplayResponderExchange: ResponderExchange {
    private let exchange: ReplayExchange
    /// Tells of a miss, and returns it as it is shown.
    private let missed: @Sendable (ReplayMiss) -> ReplayMiss

    init(
        _ exchange: ReplayExchange, missed: @escaping @Sendable (ReplayMiss) -> ReplayMiss
    ) {
        self.exchange = exchange
        self.missed = missed
    }

    func receive(_ content: Span<UInt8>) { exchange.receive(content) }
    func noteEnd() { exchange.noteEnd() }

    func next() -> ResponderStep {
        switch exchange.next() {
        case .needMore: return .needMore
        case .pause(let time): return .pause(time)
        case .interim(let head): return .interim(head)
        case .head(let head, let isAll): return .head(head, isAll: isAll)
        case .switching(let head, let dialogue):
            return .switching(
                head, ReplayResponderDialogue(dialogue) { [missed] in _ = missed($0) })
        case .content(let bytes): return .content(bytes)
        case .end(let trailers): return .end(trailers: trailers)
        case .broken: return .broken
        case .miss(let miss):
            let shown = missed(miss)
            return .miss(
                ResponderMiss(
                    field: shown.field, detail: shown.detail, contentType: "application/json",
                    content: shown.json.document))
        }
    }
}

private final class ReplayResponderDialogue: ResponderDialogue {
    private let dialogue: any ReplayDialogue
    private let missed: @Sendable (ReplayMiss) -> Void

    init(_ dialogue: any ReplayDialogue, missed: @escaping @Sendable (ReplayMiss) -> Void) {
        self.dialogue = dialogue
        self.missed = missed
    }

    func receive(_ bytes: Span<UInt8>) {
        dialogue.receive(bytes)
        if let miss = dialogue.takeMiss() { missed(miss) }
    }

    func noteEnd() { dialogue.noteEnd() }

    func next() -> DialogueStep {
        let step = dialogue.next()
        if let miss = dialogue.takeMiss() { missed(miss) }
        return switch step {
        case .needMore: .needMore
        case .needMoreWithin(let time): .needMoreWithin(time)
        case .pause(let time): .pause(time)
        case .send(let bytes): .send(bytes)
        case .end: .end
        }
    }
}

extension ReplayMiss {
    /// What may be shown: a recorded secret would end up in the logs of a test.
    fileprivate var withoutSecrets: ReplayMiss {
        showing(url: URLRedaction.redact) { part, value in part.shown(value) }
    }
}
