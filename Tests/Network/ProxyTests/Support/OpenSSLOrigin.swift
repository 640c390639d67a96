import Base
import Foundation
import ProcessStart
import TLS

/// An origin that OpenSSL's own program serves, with a certificate that ended yesterday.
final class OpenSSLOrigin {
    static let program = "/usr/bin/openssl"
    static let isThere = FileManager.default.isExecutableFile(atPath: program)

    let authority: Certificate
    private(set) var port: UInt16 = 0
    private let folder: TemporaryFolder
    private let server = Process()

    init() throws {
        folder = try TemporaryFolder()
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        let commands = [
            "req -x509 \(key) -keyout ca.key -out ca.pem -days 9 -subj /CN=Expired",
            "req -new \(key) -keyout leaf.key -out leaf.csr -subj /CN=localhost",
            "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days -1"
                + " -extfile names -out leaf.pem",
        ]
        try Files.create("\(folder.path)/names", [UInt8]("subjectAltName=DNS:localhost\n".utf8))
        for command in commands {
            let process = Process()
            try Self.start(process, in: folder, command.split(separator: " ").map(String.init))
            process.waitUntilExit()
            try check(process.terminationStatus == 0, "openssl \(command)")
        }
        let path = "\(folder.path)/ca.pem"
        authority = try Certificate(pem: try Files.read(path), name: path)
        try serve()
    }

    deinit { server.terminate() }

    private func serve() throws {
        let output = Pipe()
        server.standardOutput = output
        let arguments = "s_server -accept 127.0.0.1:0 -www -cert leaf.pem -key leaf.key"
        try Self.start(server, in: folder, arguments.split(separator: " ").map(String.init))
        var text = ""
        while !text.hasSuffix("\n") || !text.contains("ACCEPT") {
            let bytes = output.fileHandleForReading.availableData
            try check(!bytes.isEmpty, "openssl s_server ended: \(text)")
            text += String(decoding: bytes, as: UTF8.self)
        }
        let digits = text.split(separator: "\n").last?.split(separator: ":").last ?? ""
        port = UInt16(digits) ?? 0
        try check(port > 0, text)
    }

    private static func start(
        _ process: Process, in folder: TemporaryFolder, _ arguments: [String]
    ) throws {
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try ProcessStart.alone { try process.run() }
    }
}
