import Foundation
import Testing

extension RealClientTests {
    /// `sallyport replay client` against a site that takes no token twice.
    struct ReplayClientTests {
        /// The part of the report that matters here.
        struct Report: Decodable {
            struct Requests: Decodable {
                let answered: Int
                let same: Int
                let failed: Int
                let withheld: Int
                let unsent: Int
            }

            struct Values: Decodable {
                let replaced: Int
                let kept: Int
            }

            struct Difference: Decodable {
                let exchange: Int64
                let url: String
                let status: Int?
                let error: String?
            }

            let schema: String
            let verdict: String
            let requests: Requests
            let values: Values
            let differences: [Difference]
            let stoppedBy: String?
        }

        /// A site that knows nobody, on a port of its own.
        final class Site: Sendable {
            let url: String
            let authority: TestAuthority
            private let program: Program

            init(in folder: Folder, _ authority: TestAuthority, isSecure: Bool) async throws {
                self.authority = authority
                program = try Program(
                    .python,
                    [Peer.server("login.py")]
                        + (isSecure ? [authority.leafPath, authority.leafKeyPath] : []),
                    in: folder)
                let port = try await program.ready(as: UInt16.self)
                url = "\(isSecure ? "https" : "http")://127.0.0.1:\(port)"
            }

            func end() async throws {
                program.send(SIGKILL)
                _ = try await program.end()
            }
        }

        /// A recording of a log-in, and the site it was made with, which is gone.
        struct Recording {
            let folder: Folder
            let authority: TestAuthority
            let capture: Capture
            let url: String

            init(isSecure: Bool = false) async throws {
                folder = try Folder()
                authority = try await TestAuthority(in: folder)
                let site = try await Site(in: folder, authority, isSecure: isSecure)
                let proxy = try await ProxyProcess(trusting: authority, reverse: nil, in: folder)
                let said = try await Program.run(
                    .bash, [Peer.script("login.sh"), site.url, proxy.url, proxy.authorityPath],
                    in: folder)
                let text = String(decoding: said, as: UTF8.self)
                #expect(text.contains("welcome, alice99") && text.contains("\"number\""))
                try await proxy.end()
                try await site.end()
                capture = proxy.capture
                url = site.url
            }

            func start(_ options: [String]) throws -> Program {
                try Program(
                    .sallyport, ["replay", "client", capture.path, "--json"] + options,
                    in: folder)
            }

            func replay(_ options: [String]) async throws -> (code: Int32, report: Report) {
                let program = try start(options)
                let code = try await program.end()
                return (code, try Self.report(of: program))
            }

            static func report(of program: Program) throws -> Report {
                let report = try JSONDecoder().decode(Report.self, from: program.output)
                #expect(report.schema == "sallyport.replay-client/1")
                #expect(program.errors.isEmpty, "\(program.story)")
                return report
            }
        }

        @Test(.needs(.curl, .bash, .python, .openssl), arguments: [false, true])
        func logsInAgain(_ isSecure: Bool) async throws {
            let recording = try await Recording(isSecure: isSecure)
            let site = try await Site(
                in: recording.folder, recording.authority, isSecure: isSecure)
            let trust = isSecure ? ["--ca", site.authority.certificatePath] : []
            let live = Capture(
                path: recording.folder.path("live.sallyport"), folder: recording.folder)
            let (code, report) = try await recording.replay(
                ["--to", site.url, "--capture", live.path] + trust)
            #expect(code == 0 && report.verdict == "same")
            #expect(report.values.replaced == 11 && report.values.kept == 0)
            let flows = try await live.flows()
            #expect(flows.map(\.status) == [200, 303, 200, 200, 201, 200])
            #expect(try await live.show(3, "response-body") == Data("welcome, alice99".utf8))
            #expect(try await live.connections().map(\.exchanges) == [6])

            // The same without the values: nobody is logged in.
            let bare = try await recording.replay(["--to", site.url, "--no-substitutions"] + trust)
            #expect(bare.code == 1 && bare.report.verdict == "different")
            #expect(bare.report.differences.map(\.exchange) == [2, 3, 4, 5, 6])
            #expect(bare.report.differences.allSatisfy { $0.status == 403 })
            let urls = bare.report.differences.map(\.url)
            #expect(urls.count { $0.hasSuffix("/api/token?access_token=***") } == 1)
            #expect(bare.report.values.replaced == 0)
        }

        @Test(.needs(.curl, .bash, .python, .openssl)) func distrustsStrangers() async throws {
            let recording = try await Recording(isSecure: true)
            let site = try await Site(in: recording.folder, recording.authority, isSecure: true)
            let (code, report) = try await recording.replay(["--to", site.url])
            #expect(code == 3 && report.requests.failed == 6)
            #expect(report.differences.allSatisfy { $0.error == "origin-certificate" })
        }

        @Test(.needs(.curl, .bash, .python, .openssl)) func stopsAfterFailures() async throws {
            let recording = try await Recording()
            // Where the site was, nobody listens now.
            let (code, report) = try await recording.replay(
                ["--to", recording.url, "--stop-after", "2"])
            #expect(code == 3 && report.stoppedBy == "failures")
            #expect(report.requests.failed == 2 && report.requests.unsent == 4)
        }

        @Test(.needs(.curl, .bash, .python, .openssl)) func withholdsChanges() async throws {
            let recording = try await Recording()
            let (code, report) = try await recording.replay([])
            #expect(code == 3)
            #expect(report.requests.withheld == 2 && report.requests.failed == 4)
        }

        @Test(.needs(.curl, .bash, .python, .openssl)) func stopsPolitely() async throws {
            let recording = try await Recording()
            let site = try await Site(in: recording.folder, recording.authority, isSecure: false)
            let live = Capture(
                path: recording.folder.path("live.sallyport"), folder: recording.folder)
            let whole = try await recording.replay(["--to", site.url, "--capture", live.path])
            #expect(whole.code == 0)
            // What is there already would be taken for answers to this one.
            let again = try recording.start(["--to", site.url, "--capture", live.path])
            #expect(try await again.end() == 4, "\(again.story)")
            let slow = Capture(
                path: recording.folder.path("slow.sallyport"), folder: recording.folder)
            // The second is due long after this test.
            let program = try recording.start(
                ["--to", site.url, "--rate", "0.001/s", "--capture", slow.path])
            _ = try await eventually("the first request") { () -> Bool? in
                do {
                    return try await slow.flows().count > 0 ? true : nil
                } catch {
                    // It is being made.
                    return nil
                }
            }
            program.send(SIGINT)
            #expect(try await program.end() == 3)
            let report = try Recording.report(of: program)
            #expect(report.stoppedBy == "signal" && report.verdict == "inconclusive")
            #expect(report.requests.answered == 1 && report.requests.unsent == 5)
        }
    }
}
