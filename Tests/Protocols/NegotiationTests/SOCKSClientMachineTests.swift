import Base
import Testing

@testable import Negotiation

@Suite struct SOCKSClientMachineTests {
    /// What is sent, then `done`, what is left, or the violation.
    static let rows: [SOCKSRow] = [
        .init(
            "no login", "~05~00~05~00~00~01~00~00~00~00~00~00tunnel",
            "050100030b6578616d706c652e636f6d01bb done +6"),
        .init(
            "reply with IPv6",
            "~05~00~05~00~00~04~00~00~00~00~00~00~00~00~00~00~00~00~00~00~00~01~00~00",
            "050100030b6578616d706c652e636f6d01bb done +0"),
        .init(
            "reply with a name", "~05~00~05~00~00~03~02ab~00~00x",
            "050100030b6578616d706c652e636f6d01bb done +1"),
        .init(
            "reply with an empty name", "~05~00~05~00~00~03~00~00~00",
            "050100030b6578616d706c652e636f6d01bb done +0"),
        .init(
            "login", "~05~02~01~00~05~00~00~01~00~00~00~00~00~00",
            "0101750270770501" + "00030b6578616d706c652e636f6d01bb done +0", requires: true),
        .init(
            "login not asked for", "~05~00~05~00~00~01~00~00~00~00~00~00",
            "050100030b6578616d706c652e636f6d01bb done +0", requires: true),
        .init("login refused", "~05~02~01~01", "login-refused", requires: true),
        .init(
            "login answered by another version", "~05~02~05~00", "malformed-login-answer",
            requires: true),
        .init("login asked for, none offered", "~05~02", "method-not-offered"),
        .init("GSSAPI chosen", "~05~01", "method-not-offered", requires: true),
        .init("no method", "~05~ff", "no-acceptable-method"),
        .init("no SOCKS", "HTTP/1.1 400", "not-socks5"),
        .init("SOCKS4's answer", "~00~5a", "not-socks5"),
        .init("not allowed", "~05~00~05~02", "refused"),
        .init("unknown failure", "~05~00~05~99~00~01", "refused"),
        .init("reserved byte", "~05~00~05~00~01", "malformed-reply"),
        .init("address type", "~05~00~05~00~00~07", "unknown-address-type"),
        .init("version in the reply", "~05~00~04", "not-socks5"),
        .init("incomplete", "~05~00~05~00~00~01~00", "050100030b6578616d706c652e636f6d01bb +0"),
    ]

    @Test(arguments: rows)
    func follows(row: SOCKSRow) throws {
        let input = wire(row.input)
        #expect(try play(input, .whole, row.requires) == row.expected)
        for cut in Cut.all(of: input.count) {
            #expect(try play(input, cut, row.requires) == row.expected, "\(cut)")
        }
    }

    @Test func offersWhatItHas() throws {
        let host = try #require(SOCKSHost("::1"))
        let destination = SOCKSDestination(host: host, port: 1)
        #expect(SOCKSClientMachine(to: destination).start == [5, 1, 0])
        let credential = SOCKSCredential(user: "u", password: "")
        #expect(SOCKSClientMachine(to: destination, credential: credential).start == [5, 2, 0, 2])
        #expect(SOCKSCredential(user: "", password: "x") == nil)
        #expect(SOCKSCredential(user: String(repeating: "a", count: 256), password: "x") == nil)
        var machine = SOCKSClientMachine(to: destination)
        let request = try machine.receive([5, 0].span).send
        #expect(request.hex == "050100040000000000000000000000000000000" + "10001")
    }

    /// Both machines, back to back.
    @Test func agreesWithTheServer() throws {
        let destination = SOCKSDestination(host: try #require(SOCKSHost("a.example")), port: 443)
        let credential = try #require(SOCKSCredential(user: "u", password: "p"))
        var client = SOCKSClientMachine(to: destination, credential: credential)
        var server = SOCKSServerMachine(credentials: [credential])
        var toServer = client.start
        var isDone = false
        for _ in 0..<4 {
            var toClient: [UInt8] = []
            for action in server.receive(toServer.span).actions {
                if case .send(let bytes) = action { toClient += bytes }
                if case .connect(let target) = action {
                    #expect(target == destination)
                    for case .send(let bytes) in server.succeed() { toClient += bytes }
                }
            }
            let step = try client.receive(toClient.span)
            toServer = step.send
            isDone = step.isDone
        }
        #expect(isDone)
    }

    private func play(_ input: [UInt8], _ cut: Cut, _ logsIn: Bool) throws -> String {
        let destination = SOCKSDestination(
            host: try #require(SOCKSHost("example.com")), port: 443)
        let credential = logsIn ? SOCKSCredential(user: "u", password: "pw") : nil
        var machine = SOCKSClientMachine(to: destination, credential: credential)
        var sent: [UInt8] = []
        var left = 0
        var isDone = false
        do throws(SOCKSViolation) {
            for piece in cut.pieces(of: input) {
                let step = try machine.receive(piece.span)
                sent += step.send
                left += piece.count - step.consumed
                isDone = step.isDone
            }
        } catch {
            return error.code
        }
        return sent.hex + (isDone ? " done" : "") + " +\(left)"
    }
}
