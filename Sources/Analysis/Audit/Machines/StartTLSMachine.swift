package import Base
package import Proxy
internal import TLS
package import Traffic

/// A server that begins in cleartext, and goes over to TLS with a machine of its own when its client
/// asks for it, or keeps it from doing so as its probe demands.
///
/// `@unchecked Sendable`: one task drives it, as `ProbeMachine` demands.
package final class StartTLSMachine: AuditMachine, @unchecked Sendable {
    package let identifier: String
    package let patience: UInt64
    private let mode: UpgradeMode
    private var script: any UpgradeScript
    private let inner: (any AuditMachine)?
    private var isUpgraded = false
    private var record: MachineRecord
    private var waiting: [UInt8] = []
    private var stepCount = 0
    /// How much was heard of what the client says in cleartext after TLS has failed.
    private var heardOutside = 0
    /// What it said there that belongs in TLS.
    private var exposure: String?
    private var hasLeft = false

    /// What a client may say in cleartext without an end of a command.
    private static let pieceLimit = 16 * 1024
    /// Commands in cleartext: a client asks for TLS after a few.
    private static let stepLimit = 100

    /// - Parameter inner: what goes on after the upgrade; `nil` where none is granted.
    init(
        _ identifier: String, _ script: any UpgradeScript, _ mode: UpgradeMode,
        inner: (any AuditMachine)?, _ configuration: ProbeMachineConfiguration
    ) {
        self.identifier = identifier
        self.script = script
        self.mode = mode
        self.inner = inner
        patience = configuration.patience
        record = MachineRecord(configuration)
        if !script.greeting.isEmpty { say(script.greeting) }
    }

    // MARK: ProbeMachine

    package func receive(_ bytes: Span<UInt8>) {
        if isUpgraded, let inner {
            inner.receive(bytes)
            hearOutside(inner.observation.outsideTLS)
            return
        }
        guard !record.isOver else { return }
        let room = Self.pieceLimit - waiting.count
        let part = (0..<min(room, bytes.count)).map { bytes[$0] }
        waiting += part
        record.hear(part, isProof: false)
        noteOpening()
        while !record.isOver, let step = script.next(&waiting) {
            take(step)
            stepCount += 1
            if stepCount >= Self.stepLimit { record.isOver = true }
            if isUpgraded {
                // What came with the request for TLS is its beginning.
                let rest = waiting + (part.count..<bytes.count).map { bytes[$0] }
                waiting = []
                guard !rest.isEmpty, let inner else { return }
                inner.receive(rest.span)
                hearOutside(inner.observation.outsideTLS)
                return
            }
        }
        if waiting.count >= Self.pieceLimit { record.isOver = true }
    }

    package func noteSilence() {
        if isUpgraded, let inner { return inner.noteSilence() }
        guard !record.isOver else { return }
        record.seen.wasIdle = true
        record.isOver = true
    }

    package func noteEnd(_ end: ProbeEnd) {
        if isUpgraded { inner?.noteEnd(end) }
        record.noteEnd(end)
        // Who hangs up over an answer that is too long has seen through it.
        let hasLeft = end == .closed || end == .reset
        // MySQL's greeting says it all: a client that wants TLS goes without a word.
        if hasLeft, !mode.grants, !script.greeting.isEmpty { noteOpening() }
        if isUpgraded, mode == .injected, hasLeft { record.seen.hasDeclined = true }
    }

    package func takeOutgoing() -> [UInt8] {
        let within = isUpgraded ? inner?.takeOutgoing() ?? [] : []
        // Behind TLS that failed comes what is said after it.
        return heardOutside > 0 ? within + record.takeOutgoing() : record.takeOutgoing() + within
    }

    package var isOver: Bool {
        guard isUpgraded else { return record.isOver }
        return inner?.isOver ?? true || exposure != nil || hasLeft
    }

    package func takePlaintext() -> [(direction: Direction, bytes: [UInt8])] {
        record.takePlaintext() + (inner?.takePlaintext() ?? [])
    }

    package var outcome: (outcome: ConnectionRecord.Outcome, cause: String) {
        seenInner == nil ? record.outcome : inner?.outcome ?? record.outcome
    }

    package var observation: ProbeObservation { seenInner ?? record.seen }

    /// What was seen since TLS began; `nil` if it has not.
    private var seenInner: ProbeObservation? {
        guard isUpgraded, var seen = inner?.observation,
            seen.sawOpening || !seen.outsideTLS.isEmpty
        else { return nil }
        if !seen.outsideTLS.isEmpty { seen.hasDeclined = true }
        if let exposure {
            seen.proof = exposure
            seen.isInClear = true
        }
        return seen
    }

    /// Goes on with a client that is back to speaking in cleartext: OpenLDAP's, for one, tears TLS down
    /// and takes its leave in the protocol beneath, and swaks sends its mail.
    private func hearOutside(_ bytes: [UInt8]) {
        guard bytes.count > heardOutside else { return }
        waiting += bytes[heardOutside...]
        heardOutside = bytes.count
        while exposure == nil, !hasLeft, let step = script.next(&waiting) {
            stepCount += 1
            switch step {
            case .say(let bytes): say(bytes)
            case .expose(let words): exposure = words
            case .leave(let bytes):
                say(bytes)
                hasLeft = true
            case .upgrade: hasLeft = true
            }
            if stepCount >= Self.stepLimit { hasLeft = true }
        }
    }

    package var tls: TLSRecord? { inner?.tls }
    package var failure: Failure? { inner?.failure }

    // MARK: Steps

    private func take(_ step: UpgradeStep) {
        switch step {
        case .say(let bytes): say(bytes)
        case .upgrade(let bytes):
            say(bytes)
            isUpgraded = inner != nil
            record.isOver = inner == nil
        case .expose(let words):
            record.seen.proof = words
            record.seen.isInClear = mode.grants
            record.seen.acceptedBytes = record.seen.firstBytes.count
            record.isOver = true
        case .leave(let bytes):
            record.seen.hasDeclined = record.seen.sentCertificate
            say(bytes)
            record.isOver = true
        }
    }

    private func say(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        record.keep(bytes, .response)
        record.send(bytes)
    }

    /// A client that hangs up where it is refused TLS has judged; one that does so before a sound
    /// server has shown its certificate has not.
    private func noteOpening() {
        record.seen.sawOpening = true
        record.seen.sentCertificate = !mode.grants
    }
}
