import Base
import Foundation
import ProcessStart
import TLS

/// An origin that OpenSSL's own program serves, with what is wrong about it.
final class FlawedOrigin {
    enum Flaw: String, CaseIterable, Sendable {
        case selfSigned
        case expired
        case wrongName
        case oldVersion
        case demandsCertificate
        case demandsCertificateInTLS12
        case demandsCertificateByHTTP2
    }

    static let program = "/usr/bin/openssl"
    static let isThere = FileManager.default.isExecutableFile(atPath: program)
    /// Whether the programs of the table of failures are there.
    static let hasPeers =
        isThere && FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")

    let authority: Certificate
    let port: UInt16
    private let folder: TemporaryFolder
    private let server = Process()

    init(_ flaw: Flaw) throws {
        folder = try TemporaryFolder()
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        let name = flaw == .wrongName ? "other.example" : "localhost"
        try Files.create(
            "\(folder.path)/names", [UInt8]("subjectAltName=DNS:\(name)\n".utf8))
        let days = flaw == .expired ? -1 : 5
        var commands = ["req -x509 \(key) -keyout ca.key -out ca.pem -days 9 -subj /CN=Authority"]
        if flaw == .selfSigned {
            commands.append(
                "req -x509 \(key) -keyout leaf.key -out leaf.pem -days 5 -subj /CN=localhost"
                    + " -addext subjectAltName=DNS:localhost")
        } else {
            commands += [
                "req -new \(key) -keyout leaf.key -out leaf.csr -subj /CN=localhost",
                "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days \(days)"
                    + " -extfile names -out leaf.pem",
            ]
        }
        for command in commands {
            let process = Process()
            try Self.start(
                process, in: folder, command.split(separator: " ").map(String.init))
            process.waitUntilExit()
            try check(process.terminationStatus == 0, "openssl \(command)")
        }
        let path = "\(folder.path)/ca.pem"
        authority = try Certificate(pem: try Files.read(path), name: path)
        let options =
            switch flaw {
            case .oldVersion: "-tls1_1 -cipher DEFAULT:@SECLEVEL=0"
            case .demandsCertificate: "-Verify 1 -verify_return_error -CAfile ca.pem"
            case .demandsCertificateInTLS12:
                "-tls1_2 -Verify 1 -verify_return_error -CAfile ca.pem"
            case .demandsCertificateByHTTP2:
                "-alpn h2 -Verify 1 -verify_return_error -CAfile ca.pem"
            case .selfSigned, .expired, .wrongName: ""
            }
        port = try Self.serve(server, options, in: folder)
    }

    deinit { server.terminate() }

    /// Starts a server of `openssl s_server` and waits until it accepts.
    ///
    /// - Returns: the port that the system chose for it.
    private static func serve(
        _ server: Process, _ options: String, in folder: TemporaryFolder
    ) throws -> UInt16 {
        let output = Pipe()
        server.standardOutput = output
        let command = "s_server -accept 127.0.0.1:0 -www -cert leaf.pem -key leaf.key \(options)"
        try start(server, in: folder, command.split(separator: " ").map(String.init))
        var text = ""
        while !text.hasSuffix("\n") || !text.contains("ACCEPT") {
            let bytes = output.fileHandleForReading.availableData
            try check(!bytes.isEmpty, "openssl s_server ended: \(text)")
            text += String(decoding: bytes, as: UTF8.self)
        }
        let digits = text.split(separator: "\n").last?.split(separator: ":").last ?? ""
        let port = UInt16(digits) ?? 0
        try check(port > 0, text)
        return port
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
