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

        /// - Returns: what the step of a name runs.
        private func example(_ step: String) throws -> String {
            let page = URL(fileURLWithPath: #filePath)
                .deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("Documentation/ci.md")
            let lines = try String(contentsOf: page, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            let name = try #require(lines.firstIndex { $0.hasSuffix("- name: \(step)") })
            try #require(lines[name + 1].hasSuffix("run: |"))
            return lines[(name + 2)...].prefix { $0.hasPrefix("          ") }
                .joined(separator: "\n")
        }
    }
}
