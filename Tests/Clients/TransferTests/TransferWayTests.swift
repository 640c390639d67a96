import Base
import HTTPClient
import HTTPModel
import Origins
import Testing

@testable import Transfer

/// Where a task's requests lead, and what goes along.
struct TransferWayTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        var url = "https://a.test/file"
        var redirect: String?
        /// Whether what is sent stays on this machine.
        var isHere = false
        let isSent: Bool

        var testDescription: String { name }
    }

    /// A login goes to nobody who could not have it: to the task's own origin alone, and to no other
    /// machine where whoever is on the way could read it.
    @Test(arguments: [
        Row(name: "over TLS", isSent: true),
        Row(name: "in clear to another machine", url: "http://a.test/file", isSent: false),
        Row(
            name: "in clear on this machine", url: "http://127.0.0.1:1/", isHere: true, isSent: true
        ),
        Row(name: "in clear by a proxy elsewhere", url: "http://127.0.0.1:1/", isSent: false),
        Row(name: "to another path", redirect: "/other", isSent: true),
        Row(name: "to another host", redirect: "https://b.test/file", isSent: false),
        Row(name: "to another port", redirect: "https://a.test:444/file", isSent: false),
    ])
    func logsIn(_ row: Row) async throws {
        let source = CountedSource()
        let way = try Self.way(row, source)
        if let redirect = row.redirect { try way.follow(redirect) }
        #expect(await way.logIn(["basic"]) == row.isSent)
        #expect(source.askedCount == (row.isSent ? 1 : 0))
        let request = way.request([], to: DeafReception(), stop: ClientStop())
        #expect(request.fields == (row.isSent ? [TransferField("Authorization", "known")] : []))
    }

    /// What its own origin got is not taken along by a redirect from there.
    @Test func aLoginStaysAtItsOrigin() async throws {
        let way = try Self.way(Row(name: "", isSent: true), CountedSource())
        #expect(await way.logIn(["basic"]))
        try way.follow("https://b.test/file")
        #expect(way.request([], to: DeafReception(), stop: ClientStop()).fields == [])
    }

    /// No file with a login helps where a redirect leads to an origin that wants one.
    @Test(arguments: [false, true]) func saysWhoseLoginIsWanted(isNamed: Bool) async throws {
        let transfer = try Self.transfer(
            Row(name: "", isSent: false), CountedSource(), credential: isNamed ? "mine" : nil)
        let way = try TransferWay(transfer)
        try way.follow("https://b.test/file")
        #expect(await !way.logIn(["basic"]))
        let failure = TransferService.login(["basic"], "b.test", of: transfer)
        #expect(failure.hint == "cancel it, and name a URL of https://b.test with its login")
        // As a start that follows has it.
        transfer.loginFlaw = nil
        let later = TransferService.login(["basic"], "b.test", of: transfer)
        #expect(later.hint == "cancel it, and name a URL of b.test with its login")
        let own = TransferService.login(["basic"], transfer.host, of: transfer)
        #expect(own.hint?.contains("--login-file") == true)
    }

    private static func way(_ row: Row, _ source: CountedSource) throws -> TransferWay {
        try TransferWay(try transfer(row, source))
    }

    private static func transfer(
        _ row: Row, _ source: CountedSource, credential: String? = "mine"
    ) throws -> RunningTransfer {
        let disk = MemoryDisk()
        var plan = TransferPlan(.download, row.url, file: "/files/a")
        plan.options.credential = credential
        try disk.makeFolder("/tasks/a")
        let journal = try Journal.create(
            "/tasks/a/journal", plan, at: Timestamp(microseconds: 1), on: disk)
        return try RunningTransfer.of(
            journal.state, journal, "a", disk, network: NoNetwork(isHere: row.isHere),
            credentials: source)
    }

    private final class CountedSource: CredentialSource, @unchecked Sendable {
        private(set) var askedCount = 0

        func authorization(
            for reference: String, at location: OriginLocation, schemes: [String],
            refused: String?
        ) async -> String? {
            askedCount += 1
            return "known"
        }
    }

    private final class DeafReception: ClientReception {
        func takeInterim(_ head: ResponseHead) {}
        func take(_ head: ResponseHead) -> Bool { false }
        func take(_ piece: Span<UInt8>) {}
        func waitForRoom() async -> Bool { true }
    }
}
