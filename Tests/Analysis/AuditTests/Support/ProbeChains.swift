import Base
import Foundation
import ProcessStart
import TLS

/// Chains of the tests, made once a run by OpenSSL's own program.
final class ProbeChains: Sendable {
    static let shared = ProbeChains()

    /// What sound clients are told to trust, as a file.
    let authorityPath: String
    let folder: URL
    let rsa: PresentedChain
    let ec: PresentedChain
    /// For another name.
    let wrongName: PresentedChain
    let selfSigned: PresentedChain
    let expired: PresentedChain

    private init() {
        do {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("sallyport-audittests.\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            self.folder = folder
            let maker = ChainMaker(folder: folder)
            try maker.makeAuthority()
            authorityPath = folder.appendingPathComponent("ca.pem").path
            rsa = try maker.make("rsa", "rsa:2048", "localhost")
            ec = try maker.make("ec", "ec", "localhost")
            wrongName = try maker.make("other", "ec", "other.test")
            expired = try maker.make("expired", "ec", "localhost", days: -1)
            selfSigned = try maker.make("alone", "ec", "localhost", isSelfSigned: true)
        } catch {
            preconditionFailure("no chains for the tests: \(error)")
        }
    }
}

private struct ChainMaker {
    let folder: URL

    func makeAuthority() throws {
        try openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key"
                + " -out ca.pem -subj /CN=Probes -days 9")
    }

    func make(
        _ file: String, _ kind: String, _ name: String, days: Int = 5, isSelfSigned: Bool = false
    ) throws -> PresentedChain {
        let curve = kind == "ec" ? " -pkeyopt ec_paramgen_curve:P-256" : ""
        try openssl(
            "req -new -newkey \(kind)\(curve) -nodes -keyout \(file).key -out \(file).csr"
                + " -subj /CN=\(name)")
        let names = "subjectAltName=DNS:\(name)\nbasicConstraints=critical,CA:FALSE\n"
        try Data(names.utf8).write(to: folder.appendingPathComponent("\(file).cnf"))
        let issuer = isSelfSigned ? "-key \(file).key" : "-CA ca.pem -CAkey ca.key -CAcreateserial"
        try openssl(
            "x509 -req -in \(file).csr \(isSelfSigned ? "-signkey \(file).key" : issuer)"
                + " -days \(days) -extfile \(file).cnf -out \(file).pem")
        let path = folder.appendingPathComponent("\(file)").path
        return PresentedChain(
            certificates: [try Certificate(pem: try Files.read(path + ".pem"), name: file)],
            key: try PrivateKey.read(
                pem: try Files.read(path + ".key"), password: nil, name: file))
    }

    private func openssl(_ arguments: String) throws {
        let run = try ClientRun(
            ["openssl"] + arguments.split(separator: " ").map(String.init), in: folder)
        guard run.status == 0 else { throw TestTrouble("openssl \(arguments): \(run.output)") }
    }
}

struct TestTrouble: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
