import Foundation
import ProcessStart

/// A program that was run to its end, which comes after 100 seconds at the latest.
struct ClientRun {
    let status: Int32
    /// What it said on both of its outputs.
    let output: String

    /// - Parameters:
    ///   - arguments: the program's name first.
    ///   - input: what it reads; `nil` for the null device.
    init(_ arguments: [String], in folder: URL? = nil, input: String? = nil) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["timeout", "100"] + arguments
        process.environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            "LANG": "C.UTF-8",
        ]
        if let folder { process.currentDirectoryURL = folder }
        if input == nil { process.standardInput = FileHandle.nullDevice }
        let bytes = try ProcessStart.output(of: process, withErrors: true, input: input)
        status = process.terminationStatus
        output = String(decoding: bytes, as: UTF8.self)
    }

    static func isThere(_ program: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }
}
