import Foundation
import Testing

extension RealClientTests {
    /// `sallyport audit --battery` on real downloaders and uploaders.
    struct BatteryTests {
        private struct Answer: Decodable {
            struct Result: Decodable {
                let `case`: String
                let outcome: String
                let evidence: String
            }
            struct Diagnosis: Decodable {
                let mistake: String
            }
            let verdict: String
            let results: [Result]
            let diagnosis: [Diagnosis]

            func cases(_ outcome: String) -> Set<String> {
                Set(results.filter { $0.outcome == outcome }.map(\.case))
            }
        }

        private static func answer(
            _ kind: String, _ command: [String], in folder: Folder
        ) async throws -> (code: Int32, answer: Answer, story: String) {
            let program = try Program(
                .sallyport, ["audit", "--battery", kind, "--json", "--"] + command, in: folder)
            let code = try await program.end()
            let answer = try JSONDecoder().decode(Answer.self, from: program.output)
            return (code, answer, program.story)
        }

        struct Row: Sendable, CustomTestStringConvertible {
            let name: String
            let peer: Peer
            let arguments: [String]
            let silent: Set<String>
            let detected: Set<String>
            var testDescription: String { name }
        }

        private static let changed: Set<String> = [
            "changed-tag", "changed-date", "changed-weak-tag", "changed-size",
        ]
        private static let unchecked: Set<String> = [
            "cut-until-close", "flipped", "flipped-digest",
        ]
        private static let parts: Set<String> = [
            "part-early", "part-late", "part-unlabelled", "page-as-part",
        ]

        private static let rows = [
            Row(
                name: "curl", peer: .curl, arguments: ["-s", "-C", "-", "-o", "{out}", "{url}"],
                silent: changed.union(unchecked).union(["shrunk", "part-gzip"]),
                detected: parts.union(["whole", "whole-changed", "page", "no-last-chunk"])),
            Row(
                name: "curl -f", peer: .curl,
                arguments: ["-s", "-f", "-C", "-", "-o", "{out}", "{url}"],
                silent: changed.union(unchecked).union(["part-gzip"]),
                detected: parts.union([
                    "whole", "whole-changed", "page", "no-last-chunk", "shrunk",
                ])),
            Row(
                name: "wget", peer: .wget,
                arguments: ["-q", "-t", "1", "-c", "-O", "{out}", "{url}"],
                silent: changed.union(unchecked).union([
                    "shrunk", "part-gzip", "page", "whole-changed",
                ]), detected: parts.union(["no-last-chunk"])),
            Row(
                name: "carefully", peer: .python,
                arguments: [Peer.script("download-carefully.py"), "{url}", "{out}"], silent: [],
                detected: unchecked.union(["no-last-chunk"])),
            Row(
                name: "blindly", peer: .python,
                arguments: [Peer.script("download-blindly.py"), "{url}", "{out}"],
                silent: changed.union(unchecked).union(parts.subtracting(["part-unlabelled"]))
                    .union([
                        "whole", "whole-changed", "page", "shrunk", "part-gzip",
                    ]), detected: ["no-last-chunk"]),
        ]

        /// The table of the documentation.
        @Test(.needs(.curl, .wget, .python), arguments: rows)
        func downloads(_ row: Row) async throws {
            let folder = try Folder()
            let path = try #require(row.peer.path)
            let (code, answer, story) = try await Self.answer(
                "resume", [path] + row.arguments, in: folder)
            #expect(answer.results.count == 20, "\(story)")
            #expect(answer.cases("silent") == row.silent, "\(story)")
            #expect(answer.cases("detected") == row.detected, "\(story)")
            #expect(code == (row.silent.isEmpty ? 0 : 1))
            let mistakes = answer.diagnosis.map(\.mistake)
            #expect(mistakes.contains("ignores-content-range") == (row.name == "blindly"))
            #expect(mistakes.contains("resumes-blindly") == (row.name != "carefully"))
        }

        @Test(.needs(.curl, .tus)) func uploads() async throws {
            let folder = try Folder()
            let curl = try #require(Peer.curl.path)
            let (code, answer, story) = try await Self.answer(
                "upload", [curl, "-sf", "-T", "{file}", "{url}"], in: folder)
            #expect(code == 0, "\(story)")
            #expect(answer.cases("detected") == ["unavailable", "too-large"], "\(story)")
            let python = try #require(Peer.python.path)
            let (other, resumed, told) = try await Self.answer(
                "upload",
                [python, Peer.script("tus-upload.py"), "{url}", "{file}", "700000", "no"],
                in: folder)
            #expect(other == 0, "\(told)")
            #expect(resumed.cases("silent").isEmpty, "\(told)")
            #expect(resumed.cases("correct").isSuperset(of: ["sound", "broken", "closed"]))
            // A command that says that all went well, and has sent nothing.
            let (claims, _, claimed) = try await Self.answer(
                "upload", ["/bin/true", "{file}", "{url}"], in: folder)
            #expect(claims == 3, "\(claimed)")
        }

        /// What cannot be judged is no pass.
        @Test(arguments: [
            ["/nowhere/to/be/found", "{url}", "{out}"], ["/bin/false", "{url}", "{out}"],
            ["/bin/true", "{url}", "{out}"],
        ])
        func isInconclusive(_ command: [String]) async throws {
            let folder = try Folder()
            let (code, answer, story) = try await Self.answer("resume", command, in: folder)
            #expect(code == 3, "\(story)")
            #expect(answer.verdict == "inconclusive")
            #expect(answer.results.count == 1)
        }
    }
}
