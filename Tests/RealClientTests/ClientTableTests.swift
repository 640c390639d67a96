import Foundation
import Testing

extension RealClientTests {
    /// `Scripts/audit-clients`, which has the whole table of real clients.
    struct ClientTableTests {
        /// The rows of the slice: what the audit says of each is what was expected.
        @Test(.needs(.curl, .python, .psql, .git, .lwp, .php, .redisClient, .openssl))
        func theSliceIsAsExpected() async throws {
            let folder = try Folder()
            let table = try Program(
                Peer("bash"),
                [
                    "\(Peer.projectFolder)/Scripts/audit-clients", "--slice", "--python",
                    Peer.python.path ?? "",
                ], in: folder, variables: ["SALLYPORT": Peer.sallyport.path ?? ""],
                lastSignal: SIGTERM)
            let code = try await table.end(within: .seconds(600))
            #expect(code == 0, "\(table.story)")
            let text = String(decoding: table.output, as: UTF8.self)
            #expect(text.contains(", 0 failed, 0 skipped"), "\(text.suffix(2000))")
        }

        /// As many as are promised, and no line that the script does not understand.
        @Test(.needs()) func theTableCanBeRead() async throws {
            let folder = try Folder()
            let list = try await Program.run(
                Peer("bash"), ["\(Peer.projectFolder)/Scripts/audit-clients", "--list"], in: folder)
            #expect(list.split(separator: 0x0A).count >= 60)
        }
    }
}
