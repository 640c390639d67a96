import Foundation
import Testing

extension RealClientTests {
    /// Many connections of many protocols, each cut somewhere.
    struct ChurnTests {
        private static let count = 1_000
        /// In bytes.
        private static let growthLimit = 15 << 20

        /// What `Clients/churn.py` is told.
        private struct Plan: Encodable {
            let proxy: UInt16
            let origin: UInt16
            let process: Int32
            let authority: String
            let certificate: String
            let key: String
            let count: Int
            let seed: Int
        }

        /// What it says at the end.
        private struct Account: Decodable {
            /// The clients' ports.
            let opened: [UInt16]
            let failures: [String]
            let descriptorsBefore: Int
            let descriptorsAfter: Int
            let residentBefore: Int
            let residentAfter: Int
        }

        /// No descriptor and no task is left, and each connection has its row with its outcome.
        @Test(.needs(.python, .sqlite, .memoryFigures)) func leavesNothingBehind() async throws {
            let origin = try await Origin(http2: true)
            let folder = try Folder()
            // A client that is cut in its handshake looks like one that refuses.
            let proxy = try await ProxyProcess(for: origin, in: folder, ["--heal-after", "0"])
            let account = try await Self.churn(through: proxy, to: origin, in: folder)
            #expect(account.failures.isEmpty, "of connections that were not cut")
            #expect(account.descriptorsAfter <= account.descriptorsBefore)
            let growth = account.residentAfter - account.residentBefore
            #expect(growth < Self.growthLimit, "\(growth) bytes")

            // A task that were stuck would have to be cut, and the exit code would tell.
            try await proxy.end()
            let capture = proxy.capture
            #expect(try await capture.query("PRAGMA integrity_check") == "ok")
            #expect(try await capture.query(Self.unfinished) == "0")
            let clients = try await capture.query("SELECT client FROM connection")
            let recorded = clients.split(separator: "\n").compactMap {
                $0.split(separator: ":").last.flatMap { UInt16($0) }
            }
            #expect(account.opened.count == Self.count)
            #expect(recorded.sorted() == account.opened.sorted())
        }

        private static let unfinished = """
            SELECT count(*) FROM connection
            WHERE closed_us IS NULL OR outcome IN ('open', 'lost') OR outcome = ''
            """

        private static func churn(
            through proxy: ProxyProcess, to origin: Origin, in folder: Folder
        ) async throws -> Account {
            let port = try #require(proxy.address.split(separator: ":").last.flatMap { UInt16($0) })
            let plan = Plan(
                proxy: port, origin: origin.port, process: proxy.processID,
                authority: proxy.authorityPath, certificate: origin.authority.leafPath,
                key: origin.authority.leafKeyPath, count: count, seed: 1)
            let text = String(decoding: try JSONEncoder().encode(plan), as: UTF8.self)
            let answer = try await Program.run(
                .python, ["-B", Peer.script("churn.py"), text], in: folder,
                within: .seconds(100))
            return try JSONDecoder().decode(Account.self, from: answer)
        }
    }
}
