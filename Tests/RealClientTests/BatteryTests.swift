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
            var notMet: Set<String> = []
            let mistakes: Set<String>
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

        /// What goes wrong behind a beginning.
        private static let broken = changed.union(parts).union([
            "good", "total-unknown", "whole", "whole-changed", "shrunk", "part-gzip", "page",
        ])
        /// Of whoever goes on without a validator, and knows no digests.
        private static let general: Set<String> = [
            "resumes-blindly", "takes-cut-for-whole", "ignores-digests",
        ]

        /// A client with one mistake.
        private static func wrongly(
            _ name: String, _ silent: Set<String>, _ mistakes: Set<String>,
            notMet: Set<String> = []
        ) -> Row {
            Row(
                name: "wrongly, \(name)", peer: .python,
                arguments: [Peer.script("download-wrongly.py"), "{url}", "{out}", name],
                silent: silent, detected: ["no-last-chunk"], notMet: notMet, mistakes: mistakes)
        }

        private static let rows = [
            Row(
                name: "curl", peer: .curl, arguments: ["-s", "-C", "-", "-o", "{out}", "{url}"],
                silent: changed.union(unchecked).union(["shrunk", "part-gzip"]),
                detected: parts.union(["whole", "whole-changed", "page", "no-last-chunk"]),
                mistakes: general.union(["takes-416-for-complete", "mixes-codings", "gives-up"])),
            Row(
                name: "curl -f", peer: .curl,
                arguments: ["-s", "-f", "-C", "-", "-o", "{out}", "{url}"],
                silent: changed.union(unchecked).union(["part-gzip"]),
                detected: parts.union([
                    "whole", "whole-changed", "page", "no-last-chunk", "shrunk",
                ]), mistakes: general.union(["mixes-codings", "gives-up"])),
            Row(
                name: "wget", peer: .wget,
                arguments: ["-q", "-t", "1", "-c", "-O", "{out}", "{url}"],
                silent: changed.union(unchecked).union([
                    "shrunk", "part-gzip", "page", "whole-changed",
                ]), detected: parts.union(["no-last-chunk"]),
                mistakes: general.union([
                    "takes-416-for-complete", "mixes-codings", "keeps-stale-beginning",
                    "takes-beginning-for-whole",
                ])),
            Row(
                name: "carefully", peer: .python,
                arguments: [Peer.script("download-carefully.py"), "{url}", "{out}"], silent: [],
                detected: unchecked.union(["no-last-chunk"]), mistakes: []),
            Row(
                name: "blindly", peer: .python,
                arguments: [Peer.script("download-blindly.py"), "{url}", "{out}"],
                silent: changed.union(unchecked).union(parts.subtracting(["part-unlabelled"]))
                    .union([
                        "whole", "whole-changed", "page", "shrunk", "part-gzip",
                    ]), detected: ["no-last-chunk"],
                mistakes: general.union([
                    "appends-416", "mixes-codings", "takes-page", "appends-whole",
                    "ignores-content-range",
                ])),
            wrongly("cut", broken.union(unchecked), ["takes-cut-for-whole", "ignores-digests"]),
            wrongly(
                "twice", broken.union(unchecked),
                ["appends-whole", "takes-cut-for-whole", "ignores-digests"]),
            wrongly(
                "none", unchecked, ["takes-cut-for-whole", "ignores-digests"],
                notMet: broken.subtracting(changed).subtracting(["whole", "whole-changed"])),
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
            #expect(answer.cases("not-met") == row.notMet, "\(story)")
            #expect(Set(answer.diagnosis.map(\.mistake)) == row.mistakes, "\(story)")
        }

        @Test(.needs(.curl, .tus)) func uploads() async throws {
            let folder = try Folder()
            let curl = try #require(Peer.curl.path)
            let (code, answer, story) = try await Self.answer(
                "upload", [curl, "-sf", "-T", "{file}", "{url}"], in: folder)
            #expect(code == 0, "\(story)")
            #expect(answer.cases("detected") == ["unavailable", "too-large"], "\(story)")
            // It never asks how far it is.
            #expect(
                answer.cases("not-met") == ["forgotten", "told-too-little", "told-too-much"],
                "\(story)")
            let python = try #require(Peer.python.path)
            let (other, resumed, told) = try await Self.answer(
                "upload",
                [python, Peer.script("tus-upload.py"), "{url}", "{file}", "100000", "no"],
                in: folder)
            #expect(other == 0, "\(told)")
            #expect(resumed.cases("silent").isEmpty, "\(told)")
            #expect(resumed.cases("correct").isSuperset(of: ["sound", "broken", "closed"]))
            #expect(resumed.cases("not-met").isEmpty, "\(told)")
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
