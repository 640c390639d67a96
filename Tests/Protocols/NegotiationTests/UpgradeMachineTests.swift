import Base
import Testing

@testable import Negotiation

@Suite struct UpgradeMachineTests {
    static let rows =
        LineDialogues.mail + LineDialogues.files + LineDialogues.mailboxes + LineDialogues.others
        + OtherDialogues.binary + OtherDialogues.named

    @Test(arguments: rows)
    func follows(row: UpgradeRow) {
        let whole = UpgradePlayer(row.turns, .whole)
        #expect(whole.transcript == row.expected)
        #expect(whole.forwarded == row.plain)
        var cuts = Cut.all(of: row.byteCount)
        if row.byteCount > 4000 { cuts = [.single, .at(9), .at(row.byteCount - 9)] }
        for cut in cuts {
            let played = UpgradePlayer(row.turns, cut)
            #expect(played.transcript == row.expected, "\(cut)")
            #expect(played.forwarded == row.plain, "\(cut)")
        }
    }

    /// Inside of TLS there is a name and nothing else, and every byte goes on.
    @Test(arguments: rows)
    func onlyNamesInside(row: UpgradeRow) {
        var all = row.turns
        for index in all.indices {
            all[index].plain += all[index].rest
            all[index].rest = []
        }
        let plain = UpgradeRow("", "", all).plain
        for cut in [Cut.whole, .single] {
            let played = UpgradePlayer(all, cut, machine: UpgradeMachine(insideTLSAfter: nil))
            #expect(played.forwarded == plain)
            #expect(played.machine.securedBy == nil)
            #expect(played.facts.count <= 1)
        }
        let inner = UpgradePlayer(all, .whole, machine: UpgradeMachine(insideTLSAfter: "x"))
        #expect(inner.facts == ["x"])
        #expect(inner.forwarded == plain)
    }

    @Test func countsWhatIsInjected() {
        let commands = "RSET\r\n" + String(repeating: "a", count: 100)
        let played = UpgradePlayer(
            [
                .origin("220 a\r\n"), .client("EHLO a\r\n"), .origin("250 a\r\n"),
                .client("STARTTLS\r\n", rest: commands), .origin("220 go\r\n", rest: "250 x\r\n"),
            ], .whole)
        #expect(played.injected.map(\.side) == [.client, .origin])
        #expect(played.injected.map(\.count) == [106, 7])
        #expect(played.injected[0].sample == Array(commands.utf8.prefix(64)))
        #expect(played.injected[1].sample == Array("250 x\r\n".utf8))
    }

    @Test func saysWhoSpokeFirst() {
        var machine = UpgradeMachine()
        #expect(machine.isServerFirst == nil)
        _ = machine.origin("220 a\r\n".bytes.span)
        #expect(machine.isServerFirst == true)
        machine = UpgradeMachine()
        _ = machine.client("x".bytes.span)
        #expect(machine.isServerFirst == false)
    }

    @Test func holdsAndReleases() {
        var machine = UpgradeMachine()
        _ = machine.origin("+OK\r\n".bytes.span)
        let asked = machine.client("STLS\r\nNOOP\r\n".bytes.span)
        #expect(asked.forward == 6)
        #expect(asked.next == .hold)
        #expect(machine.awaitedCommand == "STLS")
        #expect(machine.client("NOOP\r\n".bytes.span).forward == 0)
        machine.releaseHeld()
        #expect(!machine.isAwaitingOrigin)
        let released = machine.client("NOOP\r\n".bytes.span)
        #expect(released.forward == 6)
        #expect(released.next == .forward)
        #expect(machine.origin("+OK\r\n".bytes.span).next == .forward)
    }

    /// Once the switch is known, both directions are told so.
    @Test func tellsBothSides() {
        var machine = UpgradeMachine()
        _ = machine.client(wire("~00~00~00~08~04~d2~16~2f").span)
        let secure = UpgradeStep.Next.forwardThenSecure(command: "SSLRequest")
        #expect(machine.origin("S".bytes.span).next == secure)
        let late = machine.client(wire(hello).span)
        #expect(late.next == secure)
        #expect(late.forward == 0)
        #expect(late.injected.isEmpty)
    }

    /// Bytes that nobody would send neither stop the machine nor make it forget any.
    @Test func survivesNoise() {
        var generator = SeededGenerator(state: 7)
        for _ in 0..<400 {
            guard let row = Self.rows.randomElement(using: &generator) else { return }
            var turns = row.turns.filter { $0.plain.count < 1000 }
            for _ in 0..<3 {
                guard let place = turns.indices.randomElement(using: &generator) else { continue }
                var bytes = turns[place].plain + turns[place].rest
                let cut = Int.random(in: 0...bytes.count, using: &generator)
                let noise = (0..<4).map { _ in UInt8.random(in: 0...255, using: &generator) }
                bytes.insert(contentsOf: noise, at: cut)
                turns[place].plain = bytes
                turns[place].rest = []
            }
            for index in turns.indices {
                turns[index].plain += turns[index].rest
                turns[index].rest = []
            }
            let plain = UpgradeRow(row.name, "", turns).plain
            for cut in [Cut.whole, .single] {
                let forwarded = UpgradePlayer(turns, cut).forwarded
                for side in [InjectedBytes.Side.client, .origin] {
                    let all = plain[side] ?? []
                    #expect(all.starts(with: forwarded[side] ?? []), "\(row.name), \(cut)")
                }
            }
        }
    }
}

/// A generator whose sequence depends on the seed only.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

extension String {
    fileprivate var bytes: [UInt8] { Array(utf8) }
}
