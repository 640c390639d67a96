import Base
import Glibc
import Testing

@testable import Launching

struct DetachedProgramTests {
    /// What a shell is told to say of itself: its folder, descriptors, session and number, and what it
    /// reads. No pipe is among them: while a shell makes one it has its ends itself.
    private static let questions = """
        pwd; ls /proc/$$/fd; cut -d' ' -f6 /proc/$$/stat; echo $$; cat
        """

    @Test func hasNothingOfItsStarter() async throws {
        let folder = try CommandFolder(in: "/tmp")
        defer { folder.remove() }
        let log = folder.path + "/log"
        try Files.create(log, [UInt8](repeating: 0x61, count: 100 << 10))
        // Inherited by every program that is not kept from it.
        let descriptor = fcntl(STDERR_FILENO, F_DUPFD, 200)
        defer { close(descriptor) }
        let program = try DetachedProgram.start(
            "/bin/sh", arguments: ["-c", Self.questions],
            variables: ["PATH": "/usr/bin:/bin"], log: log)
        while !program.hasEnded { await Task.yield() }
        let lines = try Files.read(log).text.split(separator: "\n").map(String.init)
        try #require(lines.count == 6)
        #expect(lines[0] == "/")
        #expect(lines[1...3] == ["0", "1", "2"])
        #expect(lines[4] == lines[5])
        #expect(program.lastWords == lines[5])
    }

    /// What the tool ignores ends other programs, as they and their users expect.
    @Test func ignoresNoSignalOfItsStarter() async throws {
        let folder = try CommandFolder(in: "/tmp")
        defer { folder.remove() }
        for number in ignoredSignals { _ = signal(number, SIG_IGN) }
        let program = try DetachedProgram.start(
            "/bin/sh", arguments: ["-c", "grep SigIgn /proc/self/status"],
            variables: ["PATH": "/usr/bin:/bin"], log: folder.path + "/log")
        while !program.hasEnded { await Task.yield() }
        let words = try #require(program.lastWords?.split(separator: "\t").last)
        let mask = try #require(UInt64(words, radix: 16))
        for number in ignoredSignals { #expect(mask >> UInt64(number - 1) & 1 == 0) }
    }

    /// Nobody has to ask for its end: what waits for any child, as the runner of these tests does, hears
    /// of it once.
    @Test func leavesNoEndedChild() async throws {
        let folder = try CommandFolder(in: "/tmp")
        defer { folder.remove() }
        let program = try DetachedProgram.start(
            "/bin/sh", arguments: ["-c", "echo $$"], variables: ["PATH": "/usr/bin:/bin"],
            log: folder.path + "/log")
        while !program.hasEnded { await Task.yield() }
        let id = try #require(program.lastWords.flatMap { pid_t($0) })
        #expect(kill(id, 0) == -1 && errno == ESRCH)
    }

    @Test func isRefusedWhatIsNoProgram() throws {
        let folder = try CommandFolder(in: "/tmp")
        defer { folder.remove() }
        do throws(Failure) {
            _ = try DetachedProgram.start(
                "/nowhere/program", arguments: [], variables: [:], log: folder.path + "/log")
            Issue.record("started")
        } catch {
            #expect(error.code == "command-not-started")
        }
    }
}
