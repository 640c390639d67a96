import Base
import Glibc

/// A folder of a test's own, removed with all in it when the test is done.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        var template = [CChar]("/tmp/catalogue-tests-XXXXXX".utf8CString)
        path = unsafe String(cString: mkdtemp(&template))
    }

    deinit { _ = shell("rm -rf '\(path)'") }

    func file(_ name: String) -> String { path + "/" + name }
}

/// Runs a command line, and tells how it ended and what it printed on both streams.
func shell(_ command: String) -> (status: Int32, output: String) {
    guard let stream = unsafe popen("(\(command)) 2>&1 </dev/null", "r") else { return (-1, "") }
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = unsafe fread(&chunk, 1, chunk.count, stream)
        guard count > 0 else { break }
        output += chunk.prefix(count)
    }
    let status = unsafe pclose(stream)
    return (status >> 8 & 0xFF, output.text)
}
