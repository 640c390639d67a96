import Foundation
import Testing

extension RealClientTests {
    /// `sallyport run` with commands that know nothing of it.
    struct RunTests {
        @Test(.needs(), arguments: Fetch.all)
        func capturesUnmodifiedClients(_ fetch: Fetch) async throws {
            try fetch.peer.needed(for: fetch.name)
            let origin = try await Origin()
            let folder = try Folder()
            let url = "\(origin.url)/small.bin"
            let run = try Run(fetch.command(url), in: folder, trusting: origin)
            let code = try await run.program.end()
            // What an old client offers is of medium severity, which does not fail.
            #expect(code == 0, "\(run.program.story)")
            #expect(
                run.program.output
                    == (try Data(contentsOf: URL(filePath: origin.path(of: "small.bin")))))
            let flows = try await run.capture.flows()
            #expect(flows.map(\.url) == [url])
            let flow = try #require(flows.first)
            #expect(flow.status == 200 && flow.error == nil)
            #expect(try await run.capture.show(flow.id, "response-body") == run.program.output)
        }

        @Test(.needs(.git)) func capturesGit() async throws {
            let origin = try await Origin()
            let folder = try Folder()
            let commit = String(repeating: "1a", count: 20)
            try origin.folder.write("www/some.git/HEAD", "ref: refs/heads/main\n")
            try origin.folder.write("www/some.git/info/refs", "\(commit)\trefs/heads/main\n")
            let run = try Run(
                ["git", "ls-remote", "\(origin.url)/some.git", "main"], in: folder, trusting: origin
            )
            let code = try await run.program.end()
            #expect(code == 0, "\(run.program.story)")
            let said = String(decoding: run.program.output, as: UTF8.self)
            #expect(said == "\(commit)\trefs/heads/main\n")
            let path = "\(origin.url)/some.git/info/refs?service=git-upload-pack"
            #expect(try await run.capture.flows().map(\.url).contains(path))
        }

        @Test(.needs(.curl)) func failsForCredentialsInTheClear() async throws {
            let folder = try Folder()
            let content = try await ContentProcess(in: folder)
            let origin = try await Origin()
            let url = "\(content.url)/assets/1/1000"
            let secret = "Correct-Horse-7"
            let run = try Run(
                ["curl", "-sS", "--user", "tester:\(secret)", url], in: folder, trusting: origin,
                options: ["--loopback-as-remote"])
            let code = try await run.program.end()
            try await content.end()
            #expect(code == 1, "\(run.program.story)")
            #expect(run.program.output.count == 1_000)
            let verdict = String(decoding: run.program.errors, as: UTF8.self)
            #expect(verdict.contains("PLAIN-HTTP-BASIC"))
            #expect(!verdict.contains(secret))
        }

        /// What cannot be judged is no good verdict, and says why.
        @Test(.needs(.curl), arguments: Unjudged.all)
        func isInconclusive(_ row: Unjudged) async throws {
            let origin = try await Origin()
            let folder = try Folder()
            let run = try Run(
                row.command(origin), in: folder, trusting: origin,
                options: ["--fail-on", "critical"])
            let code = try await run.program.end()
            #expect(code == row.code, "\(run.program.story)")
            let verdict = String(decoding: run.program.errors, as: UTF8.self)
            for word in row.words { #expect(verdict.contains(word), "\(verdict)") }
        }
    }
}

/// A command that fetches a URL and prints its content.
struct Fetch: Sendable, CustomTestStringConvertible {
    let name: String
    let peer: Peer
    let command: @Sendable (_ url: String) -> [String]

    var testDescription: String { name }

    static let all = [
        Fetch(name: "curl", peer: .curl) { ["curl", "--silent", "--show-error", $0] },
        Fetch(name: "wget", peer: .wget) { ["wget", "--quiet", "--output-document=-", $0] },
        python("urllib", "import urllib.request as u; get = lambda url: u.urlopen(url).read()"),
        python("requests", "import requests; get = lambda url: requests.get(url).content"),
        Fetch(name: "Java", peer: .java) {
            ["java", "-XX:TieredStopAtLevel=1", Peer.script("Fetch.java"), $0]
        },
    ]

    private static func python(_ name: String, _ definition: String) -> Fetch {
        Fetch(name: "Python \(name)", peer: .python) {
            let program = "\(definition); import sys; sys.stdout.buffer.write(get(sys.argv[1]))"
            return [Peer.python.path ?? "", "-c", program, $0]
        }
    }
}

/// A command whose run comes to no verdict.
struct Unjudged: Sendable, CustomTestStringConvertible {
    let name: String
    let code: Int32
    /// What is said of it.
    let words: [String]
    let command: @Sendable (Origin) -> [String]

    var testDescription: String { name }

    static let all = [
        Unjudged(name: "nothing seen", code: 3, words: ["exited with 0", "nothing was recorded"]) {
            _ in ["true"]
        },
        Unjudged(
            name: "every client refused", code: 3,
            words: ["exited with 60", "clients refused every TLS connection"]
        ) {
            ["curl", "-sS", "--cacert", $0.authority.certificatePath, "\($0.url)/byte.bin"]
        },
        Unjudged(name: "the command failed", code: 3, words: ["exited with 7"]) {
            ["sh", "-c", "curl -sS $0; exit 7", "\($0.url)/byte.bin"]
        },
        Unjudged(name: "the command was killed", code: 3, words: ["ended by signal 9"]) {
            ["sh", "-c", "curl -sS $0; kill -9 $$", "\($0.url)/byte.bin"]
        },
        Unjudged(
            name: "no such command", code: 4, words: ["cannot start no-such-command", "in PATH?"]
        ) {
            _ in ["no-such-command"]
        },
    ]
}

/// `sallyport run` as a process.
private struct Run {
    let program: Program
    let capture: Capture

    init(
        _ command: [String], in folder: Folder, trusting origin: Origin, options: [String] = []
    ) throws {
        capture = Capture(path: folder.path("run.sallyport"), folder: folder)
        program = try Program(
            .sallyport,
            ["run", "--capture", capture.path, "--origin-ca", origin.authority.certificatePath]
                + options + ["--"] + command, in: folder)
    }
}
