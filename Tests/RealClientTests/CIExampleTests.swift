import Foundation
import Testing

extension RealClientTests {
    /// The commands that `Documentation/ci.md` shows, as far as they run outside of their service.
    struct CIExampleTests {
        @Test(.needs(.bash, .curl), arguments: [true, false])
        func judgesTraffic(_ sendsPassword: Bool) async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let login = sendsPassword ? "--user tester:Correct-Horse-7 " : ""
            let tests = folder.path("integration-tests")
            try Data("#!/bin/sh\ncurl -sS --output out \(login)\(content.url)/assets/1/10\n".utf8)
                .write(to: URL(fileURLWithPath: tests))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: tests)
            let tool = try #require(Peer.sallyport.path)
            let script = try example("Judge the traffic")
                .replacingOccurrences(
                    of: "sallyport run", with: "\(tool) run --loopback-as-remote")
            let run = try Program(.bash, ["-euc", script], in: folder)
            #expect(try await run.end() == (sendsPassword ? 1 : 0), "\(run.story)")
            try await content.end()
            let report = try JSONSerialization.jsonObject(
                with: Data(contentsOf: URL(fileURLWithPath: folder.path("traffic.sarif"))))
            let text = "\(report)"
            #expect(text.contains("PLAIN-HTTP-BASIC") == sendsPassword, "\(text)")
            #expect(!text.contains("Correct-Horse-7"))
        }

        /// The hook for commits leaves nothing behind that a commit would take along.
        @Test(.needs(.bash, .curl)) func judgesBeforeACommit() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let lines = try page()
            let start = try #require(lines.firstIndex { $0.hasSuffix("entry: >-") })
            let entry = lines[(start + 1)...].prefix { $0.hasPrefix("          ") }
                .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
            let script = entry.replacingOccurrences(
                of: "./integration-tests", with: "curl -sS --output out \(content.url)/assets/1/10"
            ).replacingOccurrences(of: "sallyport run", with: "\"$TOOL\" run")
            let fetch = ["curl", "-sS", "--output", "out", "\(content.url)/assets/1/10"]
            let first = try Program(
                .sallyport, ["run", "--capture", "first.sallyport", "--"] + fetch, in: folder)
            #expect(try await first.end() == 0, "\(first.story)")
            let baseline = try Program(
                .sallyport, ["check", "first.sallyport", "--write-baseline", "sallyport.baseline"],
                in: folder)
            #expect(try await baseline.end() == 0, "\(baseline.story)")
            let run = try Program(
                .bash, ["-euc", script], in: folder,
                variables: ["TOOL": Peer.sallyport.path ?? "", "TMPDIR": folder.path])
            #expect(try await run.end() == 0, "\(run.story)")
            #expect(String(decoding: run.errors, as: UTF8.self).contains("verdict: clean"))
            try await content.end()
            let left = FileManager.default.enumerator(atPath: folder.path)?.allObjects ?? []
            #expect(!left.contains { "\($0)".hasSuffix("/run.sallyport") }, "\(left)")
        }

        /// - Returns: what the step of a name runs.
        private func example(_ step: String) throws -> String {
            let lines = try page()
            let name = try #require(lines.firstIndex { $0.hasSuffix("- name: \(step)") })
            try #require(lines[name + 1].hasSuffix("run: |"))
            return lines[(name + 2)...].prefix { $0.hasPrefix("          ") }
                .joined(separator: "\n")
        }

        private func page() throws -> [Substring] {
            let page = URL(fileURLWithPath: #filePath)
                .deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("Documentation/ci.md")
            return try String(contentsOf: page, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
        }
    }
}
