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
    }

    /// Whether the programs of the table of failures are there.
    static let hasPeers =
        OpenSSLOrigin.isThere && FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")

    let authority: Certificate
    private(set) var port: UInt16 = 0
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
            try Self.start(process, command, in: folder)
            process.waitUntilExit()
            try check(process.terminationStatus == 0, "openssl \(command)")
        }
        let path = "\(folder.path)/ca.pem"
        authority = try Certificate(pem: try Files.read(path), name: path)
        try serve(flaw)
    }

    deinit { server.terminate() }

    private func serve(_ flaw: Flaw) throws {
        let output = Pipe()
        server.standardOutput = output
        let more =
            switch flaw {
            case .oldVersion: " -tls1_1 -cipher DEFAULT:@SECLEVEL=0"
            case .demandsCertificate: " -Verify 1 -verify_return_error -CAfile ca.pem"
            case .demandsCertificateInTLS12:
                " -tls1_2 -Verify 1 -verify_return_error -CAfile ca.pem"
            case .selfSigned, .expired, .wrongName: ""
            }
        try Self.start(
            server, "s_server -accept 127.0.0.1:0 -www -cert leaf.pem -key leaf.key\(more)",
            in: folder)
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
        _ process: Process, _ command: String, in folder: TemporaryFolder
    ) throws {
        process.executableURL = URL(fileURLWithPath: OpenSSLOrigin.program)
        process.arguments = command.split(separator: " ").map(String.init)
        process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try ProcessStart.alone { try process.run() }
    }
}
