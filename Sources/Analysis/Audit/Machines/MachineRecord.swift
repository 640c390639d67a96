internal import Proxy
internal import TLS
internal import Traffic

/// What a probe's server gathers of its connection, and has to say; each bound is here.
struct MachineRecord {
    var seen = ProbeObservation()
    var isOver = false
    private(set) var outgoing: [UInt8] = []
    private var plaintext: [(direction: Direction, bytes: [UInt8])] = []
    private var kept = 0
    private let now: @Sendable () -> UInt64
    private var doneAt: UInt64?

    /// Of what the client says inside, in bytes; the rest is counted only.
    static let keepLimit = 16 * 1024
    /// Of what waits to be sent: a client that makes us speak and never listens is left.
    static let outgoingLimit = 512 * 1024

    init(_ configuration: ProbeMachineConfiguration) {
        now = configuration.now
        seen.connection = configuration.connection
    }

    mutating func send(_ bytes: [UInt8]) {
        guard outgoing.count + bytes.count <= Self.outgoingLimit else {
            isOver = true
            return
        }
        outgoing += bytes
    }

    mutating func takeOutgoing() -> [UInt8] {
        defer { outgoing = [] }
        return outgoing
    }

    /// Takes note of what was said inside.
    mutating func keep(_ bytes: [UInt8], _ direction: Direction) {
        let part = bytes.prefix(max(0, 2 * Self.keepLimit - kept))
        guard !part.isEmpty else { return }
        kept += part.count
        plaintext.append((direction, Array(part)))
    }

    mutating func takePlaintext() -> [(direction: Direction, bytes: [UInt8])] {
        defer { plaintext = [] }
        return plaintext
    }

    /// Takes note of what the client said.
    ///
    /// - Parameter isProof: whether a client says it only to a server that it has accepted.
    mutating func hear(_ bytes: [UInt8], isProof: Bool) {
        keep(bytes, .request)
        if isProof { seen.acceptedBytes += bytes.count }
        seen.firstBytes += bytes.prefix(Self.keepLimit - seen.firstBytes.count)
    }

    mutating func noteHandshakeDone() {
        seen.isHandshakeDone = true
        doneAt = doneAt ?? now()
    }

    mutating func noteEnd(_ end: ProbeEnd) {
        guard seen.end == nil else { return }
        seen.end = end
        isOver = true
        if let doneAt { seen.lateness = now() - doneAt }
    }

    /// How the connection is recorded.
    var outcome: (outcome: ConnectionRecord.Outcome, cause: String) {
        if seen.end == .cut { return (.cut, "the tool was shut down") }
        switch ConnectionRule.judge(seen, speaksFirst: nil) {
        case .accepted:
            return (.completed, seen.proof ?? "the client sent data to the probe's server")
        case .inClear: return (.completed, seen.proof ?? "the client sent data in cleartext")
        case .refused(let alert):
            let name = alert.map { " with the alert \(TLSAlert(isFatal: true, code: $0).name)" }
            return (.clientRefused, "the client refused the probe" + (name ?? ""))
        case .refusedLate: return (.clientRefused, "the client refused the probe after TLS was up")
        case .suspected: return (.completed, "the client took the certificate")
        case .notOffered:
            return (.clientHandshakeFailed, "the client does not offer what is probed")
        case .inconclusive(let reason), .noEvidence(let reason):
            return (seen.wasIdle ? .timedOut : .completed, reason)
        }
    }
}
