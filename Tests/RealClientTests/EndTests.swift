import Foundation
import Testing

extension RealClientTests {
    /// How the tool ends when it is told to, and what it leaves behind.
    struct EndTests {
        /// `timeout` signals its command, and at once the whole group with the command in it.
        @Test(.needs(), arguments: [[], ["--capture-all"]])
        func aWishToldTwiceIsOne(_ options: [String]) async throws {
            let folder = try Folder()
            let script = """
                trap 'touch told; while ! [ -e go ]; do sleep 0.05; done; exit 5' TERM
                touch started
                while :; do sleep 0.05; done
                """
            let run = try Started(["sh", "-c", script], in: folder, options)
            try await run.waits(for: "started")
            run.program.send(SIGTERM)
            try await run.waits(for: "told")
            run.program.send(SIGTERM)
            try folder.write("go", "")
            #expect(try await run.program.end() == 3, "\(run.program.story)")
            #expect(run.talk.contains("sallyport: the command "), "\(run.talk)")
            #expect(run.talk.contains("looked at 0 exchanges"), "\(run.talk)")
            #expect(try folder.names(like: "run.sallyport-").isEmpty)
            #expect(try folder.names(like: "sallyport-command-").isEmpty)
        }

        /// As the end of an SSH session or of a terminal does, and who quits with Ctrl-\.
        @Test(.needs(), arguments: [("HUP", SIGHUP), ("QUIT", SIGQUIT)])
        func aHangUpIsAWishToEnd(_ name: String, _ signal: Int32) async throws {
            let folder = try Folder()
            let script = "trap 'exit 5' \(name); touch started; while :; do sleep 0.05; done"
            let run = try Started(["sh", "-c", script], in: folder)
            try await run.waits(for: "started")
            run.program.send(signal)
            #expect(try await run.program.end() == 3, "\(run.program.story)")
            #expect(run.talk.contains("the command exited with 5;"), "\(run.talk)")
        }

        /// And leaves alone what is of one that runs.
        @Test(.needs()) func removesWhatAKilledRunLeft() async throws {
            let folder = try Folder()
            let script = "echo $$ >pid.new; mv pid.new pid; while ! [ -e go ]; do sleep 0.05; done"
            let killed = try Started(["sh", "-c", script], in: folder)
            let orphan = try #require(Int32(try await killed.waits(for: "pid")))
            let left = try folder.names(like: "sallyport-command-")
            #expect(left.count == 1)
            killed.program.send(SIGKILL)
            // It holds what tells the end of a process here.
            kill(orphan, SIGKILL)
            _ = try await killed.program.end()
            #expect(try folder.names(like: "sallyport-command-") == left)

            try FileManager.default.removeItem(atPath: folder.path("pid"))
            let other = try Started(["sh", "-c", script], in: folder, capture: "other")
            try await other.waits(for: "pid")
            let kept = try folder.names(like: "sallyport-command-")
            #expect(kept.count == 1 && kept != left)

            let next = try Started(["true"], in: folder, capture: "next")
            #expect(try await next.program.end() == 3, "\(next.program.story)")
            #expect(try folder.names(like: "sallyport-command-") == kept)
            try folder.write("go", "")
            #expect(try await other.program.end() == 3, "\(other.program.story)")
            #expect(try folder.names(like: "sallyport-command-").isEmpty)
        }

        /// A slice of what `Scripts/support/random-ends` does a thousand times.
        @Test(.needs(.python)) func endsInOrderAtAnyTime() async throws {
            let folder = try Folder()
            try await Program.run(
                .python,
                [
                    "-B", "\(Peer.projectFolder)/Scripts/support/random_ends.py", "--ends", "24",
                    "--sallyport", Peer.sallyport.path ?? "",
                ], in: folder, within: .seconds(300))
        }
    }
}

/// `sallyport run` of a command that nothing is asked for.
private struct Started {
    let program: Program
    private let folder: Folder

    init(
        _ command: [String], in folder: Folder, _ options: [String] = [], capture: String = "run"
    ) throws {
        self.folder = folder
        program = try Program(
            .sallyport,
            ["run", "--capture", folder.path("\(capture).sallyport")] + options + ["--"] + command,
            in: folder)
    }

    var talk: String { String(decoding: program.errors, as: UTF8.self) }

    /// - Returns: the file's text, without spaces around it.
    @discardableResult
    func waits(for name: String) async throws -> String {
        let text = try await eventually("\(name) of \(program.story)") { () -> Data? in
            if !program.isRunning { throw Trouble("ended: \(program.story)") }
            return FileManager.default.contents(atPath: folder.path(name))
        }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

extension Folder {
    /// Those of the files in it whose names begin so.
    fileprivate func names(like beginning: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path)
            .filter { $0.hasPrefix(beginning) }.sorted()
    }
}
