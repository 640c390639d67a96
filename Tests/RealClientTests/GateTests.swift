import Foundation
import Testing

extension RealClientTests {
    /// What makes the gate of `sallyport run` red, and that nothing else does.
    struct GateTests {
        /// Neither a finding nor the lack of traffic is told by what others recorded before.
        @Test(.needs(.curl)) func judgesItsOwnRecordsAlone() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let get = ["curl", "-sS", "--output", "out", "\(content.url)/assets/1/10"]
            let rows: [(command: [String], code: Int32, says: String)] = [
                (get + ["--user", "tester:Correct-Horse-7"], 1, "PLAIN-HTTP-BASIC"),
                (["true"], 3, "inconclusive: nothing was recorded"),
                (get, 0, "looked at 1 exchanges on 1 connections"),
            ]
            for row in rows {
                let run = try Gate(
                    row.command, in: folder, ["--loopback-as-remote"])
                #expect(try await run.program.end() == row.code, "\(run.program.story)")
                #expect(run.talk.contains(row.says), "\(run.talk)")
            }
            try await content.end()
        }

        @Test(.needs(.curl)) func knowsItsOwnAnswers() async throws {
            let folder = try Folder()
            // Nothing listens at port 1.
            let run = try Gate(
                ["curl", "-sS", "--output", "out", "http://127.0.0.1:1/"], in: folder)
            #expect(try await run.program.end() == 3, "\(run.program.story)")
            #expect(run.talk.contains("inconclusive: no origin answered"), "\(run.talk)")
        }

        /// That a client takes our certificate does not say that it looked at it.
        @Test(.needs(.curl), arguments: [true, false])
        func saysThatItDoesNotTestVerification(_ isSecure: Bool) async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let url = isSecure ? content.secureURL : content.url
            let run = try Gate(
                ["curl", "-sSk", "--output", "out", "\(url)/assets/1/10"], in: folder,
                ["--origin-ca", content.authorityPath])
            #expect(try await run.program.end() == 0, "\(run.program.story)")
            try await content.end()
            let says = run.talk.contains("'sallyport audit -- COMMAND'")
            #expect(says == isSecure, "\(run.talk)")
        }
    }
}

/// `sallyport run` of a command, always into one capture.
struct Gate {
    let program: Program

    init(_ command: [String], in folder: Folder, _ options: [String] = []) throws {
        program = try Program(
            .sallyport,
            ["run", "--capture", folder.path("run.sallyport")] + options + ["--"] + command,
            in: folder)
    }

    /// What the tool said, and the command on its standard error.
    var talk: String { String(decoding: program.errors, as: UTF8.self) }
}
