import Glibc
import Testing
import Traffic

@testable import Processes

struct EndingProcessTests {
    /// One that has ended, and that nobody has asked for yet, has its name left.
    @Test func hasItsName() throws {
        var id: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("true"), nil]
        defer { unsafe free(arguments[0]) }
        let failure = unsafe posix_spawn(&id, "/bin/true", nil, nil, &arguments, nil)
        try #require(failure == 0)
        defer { _ = waitpid(id, nil, 0) }
        var facts = unsafe siginfo_t()
        // Waits for its end, and leaves it as it is.
        let waited = unsafe waitid(P_PID, id_t(id), &facts, WEXITED | WNOWAIT)
        try #require(waited == 0)
        var records = ProcessRecords()
        let record = records.record(id)
        #expect(record?.executable == "")
        #expect(record?.commandLine == ["true"])
    }
}
