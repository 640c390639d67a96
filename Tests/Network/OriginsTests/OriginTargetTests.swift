import Testing

@testable import Origins

/// What an origin is recorded as, by what a client calls it.
struct OriginTargetTests {
    struct Row: Sendable {
        let dialled: String
        let claim: String?
        let recorded: String
    }

    static let rows = [
        Row(dialled: "127.0.0.1", claim: "localhost", recorded: "localhost:8443"),
        Row(dialled: "127.0.0.1", claim: "App.LocalHost.", recorded: "app.localhost.:8443"),
        Row(dialled: "::1", claim: "localhost", recorded: "localhost:8443"),
        Row(dialled: "::ffff:127.0.0.9", claim: "localhost", recorded: "localhost:8443"),
        Row(dialled: "127.0.0.1", claim: nil, recorded: "127.0.0.1:8443"),
        Row(dialled: "127.0.0.1", claim: "127.0.0.2", recorded: "127.0.0.1:8443"),
        // Neither may what stays here look like another machine's, nor the other way round.
        Row(dialled: "127.0.0.1", claim: "bank.example", recorded: "127.0.0.1:8443"),
        Row(dialled: "127.0.0.1", claim: "notlocalhost", recorded: "127.0.0.1:8443"),
        Row(dialled: "192.0.2.7", claim: "localhost", recorded: "192.0.2.7:8443"),
        Row(dialled: "127.0.0.1.example", claim: "localhost", recorded: "127.0.0.1.example:8443"),
    ]

    @Test(arguments: rows)
    func isRecordedByNameOnLoopbackAlone(_ row: Row) {
        let target = OriginTarget(
            isSecure: true, host: row.dialled, port: 8443, calledAs: row.claim)
        #expect(target.authority == row.recorded)
        #expect(target.host == row.dialled)
        // Its connections are those of the same host by any name.
        #expect(target == OriginTarget(isSecure: true, host: row.dialled, port: 8443))
    }
}
