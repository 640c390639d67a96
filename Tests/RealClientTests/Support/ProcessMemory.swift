import Foundation

/// How much memory a process has in use, as Linux tells it.
struct ProcessMemory: Sendable {
    /// Now, in bytes.
    let resident: Int
    /// The most since the process started, in bytes.
    let peak: Int

    init(of processID: Int32) throws {
        let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        func bytes(_ name: String) throws -> Int {
            for line in status.split(separator: "\n") where line.hasPrefix(name + ":") {
                let words = line.split { $0 == " " || $0 == "\t" }
                if words.count == 3, words[2] == "kB", let count = Int(words[1]) {
                    return count * 1024
                }
            }
            throw Trouble("no \(name) of process \(processID)")
        }
        resident = try bytes("VmRSS")
        peak = try bytes("VmHWM")
    }
}

extension Peer {
    /// Where Linux tells how much memory a process has in use.
    static let memoryFigures = Peer("/proc", at: "/proc/self/status")
}
