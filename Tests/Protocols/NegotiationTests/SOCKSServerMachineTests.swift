import Base
import Testing

@testable import Negotiation

struct SOCKSRow: Sendable, CustomTestStringConvertible {
    var name: String
    var input: String
    var expected: String
    var requires = false
    var testDescription: String { name }

    init(_ name: String, _ input: String, _ expected: String, requires: Bool = false) {
        self.name = name
        self.input = input
        self.expected = expected
        self.requires = requires
    }
}

@Suite struct SOCKSServerMachineTests {
    /// Actions, and behind `+` what is left to the tunnel.
    static let rows: [SOCKSRow] = [
        .init(
            "SOCKS5, name", "~05~01~00~05~01~00~03~0bexample.com~01~bb",
            "send 0500, connect example.com 443 +0"),
        .init(
            "SOCKS5, bytes of the tunnel behind", "~05~01~00~05~01~00~03~01a~00~50GET /",
            "send 0500, connect a 80 +5"),
        .init(
            "SOCKS5, IPv4", "~05~02~00~01~05~01~00~01~7f~00~00~01~1f~90",
            "send 0500, connect 127.0.0.1 8080 +0"),
        .init(
            "SOCKS5, IPv6",
            "~05~01~00~05~01~00~04~20~01~0d~b8~00~00~00~00~00~00~00~00~00~00~00~01~01~bb",
            "send 0500, connect 2001:db8::1 443 +0"),
        .init(
            "an address as a name", "~05~01~00~05~01~00~03~09127.0.0.1~00~50",
            "send 0500, connect 127.0.0.1 80 +0"),
        .init(
            "an IPv6 address as a name", "~05~01~00~05~01~00~03~03::1~00~50",
            "send 0500, connect ::1 80 +0"),
        .init(
            "password offered, not needed", "~05~02~02~00~05~01~00~03~01a~00~50",
            "send 0500, connect a 80 +0"),
        .init(
            "only password offered, not needed", "~05~01~02~01~01u~02pw~05~01~00~03~01a~00~50",
            "send 0502, login u with password, send 0100, connect a 80 +0"),
        .init(
            "empty name and password", "~05~01~02~01~00~00~05~01~00~03~01a~00~50",
            "send 0502, login , send 0100, connect a 80 +0"),
        .init(
            "password needed", "~05~02~00~02~01~05alice~06secret~05~01~00~03~01a~00~50",
            "send 0502, login alice with password verified, send 0100, connect a 80 +0",
            requires: true),
        .init(
            "second user", "~05~01~02~01~03bob~02pw~05~01~00~03~01a~00~50",
            "send 0502, login bob with password verified, send 0100, connect a 80 +0",
            requires: true),
        .init(
            "wrong password", "~05~01~02~01~05alice~06Secret~05",
            "send 0502, login alice with password, refuse 0101 wrong-credentials +1",
            requires: true),
        .init(
            "password of another", "~05~01~02~01~05alice~02pw",
            "send 0502, login alice with password, refuse 0101 wrong-credentials +0",
            requires: true),
        .init(
            "empty password", "~05~01~02~01~05alice~00",
            "send 0502, login alice, refuse 0101 wrong-credentials +0", requires: true),
        .init(
            "password needed, not offered", "~05~01~00~05",
            "refuse 05ff no-acceptable-method +1", requires: true),
        .init("GSSAPI only", "~05~01~01", "refuse 05ff no-acceptable-method +0"),
        .init("no methods", "~05~00", "refuse 05ff no-methods +0"),
        .init(
            "login of another version", "~05~01~02~05", "send 0502, refuse 0101 malformed-login +0"),
        .init(
            "control character in the user name", "~05~01~02~01~02a~0a~00",
            "send 0502, refuse 0101 invalid-user-name +0"),
        .init(
            "BIND", "~05~01~00~05~02~00~01~00~00~00~00~00~50",
            "send 0500, refuse 05070001000000000000 unsupported-command +0"),
        .init(
            "UDP ASSOCIATE", "~05~01~00~05~03~00~01~00~00~00~00~00~00",
            "send 0500, refuse 05070001000000000000 unsupported-command +0"),
        .init(
            "unknown command", "~05~01~00~05~f0~00~03~01a~00~50",
            "send 0500, refuse 05070001000000000000 unsupported-command +0"),
        .init(
            "unknown address type", "~05~01~00~05~01~00~02~00",
            "send 0500, refuse 05080001000000000000 unsupported-address-type +1"),
        .init(
            "reserved byte", "~05~01~00~05~01~01~03",
            "send 0500, refuse 05010001000000000000 malformed-request +1"),
        .init(
            "version in the request", "~05~01~00~04~01",
            "send 0500, refuse 05010001000000000000 wrong-version +1"),
        .init(
            "empty name", "~05~01~00~05~01~00~03~00~00~50",
            "send 0500, refuse 05010001000000000000 invalid-name +0"),
        .init(
            "NUL in the name", "~05~01~00~05~01~00~03~03a~00b~00~50",
            "send 0500, refuse 05010001000000000000 invalid-name +0"),
        .init(
            "line end in the name", "~05~01~00~05~01~00~03~04a~0d~0ab~00~50",
            "send 0500, refuse 05010001000000000000 invalid-name +0"),
        .init(
            "slash in the name", "~05~01~00~05~01~00~03~03a/b~00~50",
            "send 0500, refuse 05010001000000000000 invalid-name +0"),
        .init(
            "port 0", "~05~01~00~05~01~00~03~01a~00~00",
            "send 0500, refuse 05010001000000000000 invalid-port +0"),
        .init("SOCKS4", "~04~01~00~50~7f~00~00~01~00", "connect 127.0.0.1 80 +0"),
        .init(
            "SOCKS4, user ID", "~04~01~00~50~7f~00~00~01me~00x", "login me, connect 127.0.0.1 80 +1"
        ),
        .init("SOCKS4a", "~04~01~01~bb~00~00~00~01~00example.com~00", "connect example.com 443 +0"),
        .init(
            "SOCKS4a, user ID", "~04~01~01~bb~00~00~00~ffme~00a~00GET",
            "login me, connect a 443 +3"),
        .init(
            "SOCKS4, BIND", "~04~02~00~50~7f~00~00~01~00",
            "refuse 005b000000000000 unsupported-command +0"),
        .init(
            "SOCKS4 when a password is needed", "~04~01~00~50~7f~00~00~01alice~00",
            "login alice, refuse 005b000000000000 credentials-required +0", requires: true),
        .init(
            "SOCKS4a, empty name", "~04~01~01~bb~00~00~00~01~00~00",
            "refuse 005b000000000000 invalid-name +0"),
        .init(
            "SOCKS4, user ID without end",
            "~04~01~00~50~7f~00~00~01" + String(repeating: "a", count: 300),
            "refuse 005b000000000000 invalid-user-name +44"),
        .init(
            "SOCKS4a, name without end",
            "~04~01~00~50~00~00~00~01~00" + String(repeating: "a", count: 300),
            "refuse 005b000000000000 invalid-name +44"),
        .init("no SOCKS", "GET / HTTP/1.1", "refuse  not-socks +13"),
        .init("incomplete", "~05~01~00~05~01~00~03~0bexample", "send 0500 +0"),
        .init(
            "longest name",
            "~05~01~00~05~01~00~03~ff" + String(repeating: "a", count: 255) + "~00~01",
            "send 0500, connect " + String(repeating: "a", count: 255) + " 1 +0"),
    ]

    @Test(arguments: rows)
    func answers(row: SOCKSRow) {
        let input = wire(row.input)
        #expect(play(input, .whole, requires: row.requires) == row.expected)
        for cut in Cut.all(of: input.count) {
            #expect(play(input, cut, requires: row.requires) == row.expected, "\(cut)")
        }
    }

    @Test func keepsNoPassword() {
        var machine = SOCKSServerMachine()
        _ = machine.receive(wire("~05~01~02~01~01u~06secret").span)
        #expect(!"\(machine)".contains("115, 101, 99"))
    }

    @Test func tellsTheOutcome() throws {
        var machine = SOCKSServerMachine()
        #expect(machine.succeed().isEmpty)
        _ = machine.receive(wire("~05~01~00~05~01~00~03~01a~00~50").span)
        var second = machine
        let local = SOCKSDestination(host: try #require(SOCKSHost("10.0.0.1")), port: 0x1234)
        #expect(
            machine.succeed(boundTo: local)
                == [.send(wire("~05~00~00~01~0a~00~00~01~12~34")), .done])
        #expect(machine.fail(.other).isEmpty)
        #expect(
            second.fail(.connectionRefused) == [
                .refuse(
                    reply: wire("~05~05~00~01~00~00~00~00~00~00"), .failed(.connectionRefused))
            ])
        var old = SOCKSServerMachine()
        _ = old.receive(wire("~04~01~00~50~7f~00~00~01~00").span)
        #expect(old.version == .socks4)
        #expect(
            old.succeed(boundTo: local) == [.send(wire("~00~5a~12~34~0a~00~00~01")), .done])
    }

    @Test(arguments: [
        ("0.0.0.0", "0.0.0.0"), ("::", "::"), ("::1", "::1"), ("1::", "1::"),
        ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("::ffff:1.2.3.4", "::ffff:102:304"),
        ("1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8"), ("a.b", "a.b"), ("1.2.3", nil),
        ("1.2.3.04", nil), ("[::1]", nil), (":::", nil), ("1:2:3:4:5:6:7", nil),
        ("1::2::3", nil), ("12345::", nil), ("a b", nil), ("", nil), ("ä.de", nil),
        ("fe80::1%eth0", nil), ("1:2:3:4:5:6:7:8:9", nil),
    ])
    func readsHosts(text: String, expected: String?) {
        #expect(SOCKSHost(text)?.text == expected)
    }

    private func play(_ input: [UInt8], _ cut: Cut, requires: Bool) -> String {
        let users = [("alice", "secret"), ("bob", "pw")].compactMap {
            SOCKSCredential(user: $0.0, password: $0.1)
        }
        var machine = SOCKSServerMachine(credentials: requires ? users : nil)
        var said: [String] = []
        var left = 0
        for piece in cut.pieces(of: input) {
            let step = machine.receive(piece.span)
            left += piece.count - step.consumed
            said += step.actions.map(Self.text)
        }
        return said.joined(separator: ", ") + " +\(left)"
    }

    private static func text(_ action: SOCKSServerMachine.Action) -> String {
        switch action {
        case .send(let bytes): "send \(bytes.hex)"
        case .login(let login):
            "login \(login.user)" + (login.gavePassword ? " with password" : "")
                + (login.isVerified ? " verified" : "")
        case .connect(let target): "connect \(target.host.text) \(target.port)"
        case .done: "done"
        case .refuse(let reply, let refusal): "refuse \(reply.hex) \(refusal.code)"
        }
    }

    /// A resolver takes them for addresses, and no rule about addresses does.
    @Test(arguments: ["2130706433", "0x7f.1", "017700000001", "127.1", "0X7F000001", "a.1", "1."])
    func numbersAreNoNames(_ text: String) {
        #expect(SOCKSHost(text) == nil)
    }

}
