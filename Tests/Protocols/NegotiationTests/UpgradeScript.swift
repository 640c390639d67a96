import Base
import Testing

@testable import Negotiation

/// What one side says at once.
struct Turn: Sendable {
    var side: InjectedBytes.Side
    /// What must go on in plain.
    var plain: [UInt8]
    /// What must not.
    var rest: [UInt8]

    static func client(_ plain: String, rest: String = "") -> Turn {
        Turn(side: .client, plain: wire(plain), rest: wire(rest))
    }

    static func origin(_ plain: String, rest: String = "") -> Turn {
        Turn(side: .origin, plain: wire(plain), rest: wire(rest))
    }
}

/// Plays a dialogue as a relay would: bytes that may not go on are presented again.
struct UpgradePlayer {
    var machine: UpgradeMachine
    let cut: Cut
    var facts: [String] = []
    var forwarded: [InjectedBytes.Side: [UInt8]] = [.client: [], .origin: []]
    var injected: [InjectedBytes] = []
    private var waiting: [UInt8] = []
    private var seen = 0

    init(_ turns: [Turn], _ cut: Cut, machine: UpgradeMachine = UpgradeMachine()) {
        self.cut = cut
        self.machine = machine
        for turn in turns {
            let bytes = turn.plain + turn.rest
            let pieces = cut.pieces(of: bytes, from: seen)
            seen += bytes.count
            for piece in pieces {
                if turn.side == .client { client(piece) } else { origin(piece) }
            }
            if turn.side == .client, !waiting.isEmpty, self.machine.securedBy == nil,
                !self.machine.isAwaitingOrigin
            {
                self.machine.releaseHeld()
                client([])
            }
        }
    }

    private mutating func client(_ piece: [UInt8]) {
        waiting += piece
        let bytes = waiting
        let step = machine.client(bytes.span)
        take(step)
        forwarded[.client, default: []] += waiting[..<step.forward]
        waiting.removeFirst(step.forward)
    }

    private mutating func origin(_ piece: [UInt8]) {
        let step = machine.origin(piece.span)
        take(step)
        forwarded[.origin, default: []] += piece[..<step.forward]
        if !waiting.isEmpty, !machine.isAwaitingOrigin, machine.securedBy == nil { client([]) }
    }

    private mutating func take(_ step: UpgradeStep) {
        facts += step.facts.map(Self.text)
        injected += step.injected
    }

    /// Facts, how it was secured, and who injected.
    var transcript: String {
        var all = facts
        if let command = machine.securedBy { all.append("SECURED by \(command)") }
        for side in [InjectedBytes.Side.client, .origin]
        where injected.contains(where: { $0.side == side }) {
            all.append("INJECTED by \(side.rawValue)")
        }
        return all.joined(separator: ", ")
    }

    private static func text(_ fact: UpgradeFact) -> String {
        switch fact {
        case .named(let name): name
        case .offered(let command): "offers \(command)"
        case .asked(let command): "asks \(command)"
        case .refused(let command, let answer): "refuses \(command): \(answer)"
        case .plaintextLogin(let login):
            "login \(login.command)" + (login.wasUpgradeOffered ? " in spite of the offer" : "")
                + (login.exposesSecret ? "" : " without secret")
        case .otherEncryption: "other encryption"
        }
    }
}

struct UpgradeRow: Sendable, CustomTestStringConvertible {
    var name: String
    var expected: String
    var turns: [Turn]
    var testDescription: String { name }

    init(_ name: String, _ expected: String, _ turns: [Turn]) {
        self.name = name
        self.expected = expected
        self.turns = turns
    }

    var plain: [InjectedBytes.Side: [UInt8]] {
        var result: [InjectedBytes.Side: [UInt8]] = [.client: [], .origin: []]
        for turn in turns { result[turn.side, default: []] += turn.plain }
        return result
    }

    var byteCount: Int { turns.reduce(0) { $0 + $1.plain.count + $1.rest.count } }
}
