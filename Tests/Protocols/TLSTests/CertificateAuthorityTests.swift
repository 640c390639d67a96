import Base
import COpenSSL
import Testing

@testable import TLS

struct CertificateAuthorityTests {
    private let folder = TemporaryFolder()

    // MARK: Making

    @Test func isMadeAtFirstUseAndKept() throws {
        let place = folder.file("state/ca")
        let made = try CertificateAuthority.open(folder: place)
        #expect(made.certificatePath == "\(place)/ca.pem")
        #expect(shell("stat -c %a \(place)/ca.key").output == "600\n")
        #expect(shell("stat -c %a \(place)/ca.pem").output == "644\n")
        #expect(shell("stat -c %a \(place)").output == "700\n")
        let key = try Files.read("\(place)/ca.key")
        let again = try CertificateAuthority.open(folder: place)
        #expect(again.certificate.fingerprint == made.certificate.fingerprint)
        #expect(try Files.read("\(place)/ca.key") == key)
        #expect(shell("ls -A \(folder.path)/state").output == "ca\n")
    }

    @Test func isWhatClientsExpect() throws {
        let place = folder.file("ca")
        let made = try CertificateAuthority.open(folder: place, label: "Test CA")
        let text = shell("openssl x509 -in \(place)/ca.pem -noout -text").output
        #expect(text.contains("CA:TRUE, pathlen:0"))
        #expect(text.contains("X509v3 Basic Constraints: critical"))
        #expect(text.contains("Certificate Sign, CRL Sign"))
        #expect(text.contains("X509v3 Subject Key Identifier"))
        #expect(text.contains("NIST CURVE: P-256"))
        #expect(!text.contains("Name Constraints"))
        #expect(made.certificate.subject.contains("CN=Test CA "))
        #expect(made.certificate.subject == made.certificate.issuer)
        let hash = shell("openssl x509 -in \(place)/ca.pem -noout -hash").output
        #expect("\(made.certificate.folderName)\n" == hash.replacing("\n", with: ".0\n"))
        #expect(made.certificate.isAuthority && !made.certificate.isExpired)
        #expect(made.certificate.isSelfIssued)
        let other = try CertificateAuthority.open(folder: folder.file("other"))
        #expect(other.certificate.subject != made.certificate.subject)
    }

    @Test func isConstrainedToItsScope() throws {
        let place = folder.file("ca")
        let made = try CertificateAuthority.open(
            folder: place, scope: ["example.com", "example.org"])
        let text = shell("openssl x509 -in \(place)/ca.pem -noout -text").output
        #expect(text.contains("X509v3 Name Constraints: critical"))
        let context = TLSServerContext(
            authority: made, ticketKey: TLSLaboratory.ticketKey)
        for (name, isGood) in [
            ("a.example.com", true), ("example.org", true), ("example.net", false),
        ] {
            try Files.create(folder.file(name), context.leaf(for: name).pem)
            let verdict = shell("openssl verify -CAfile \(place)/ca.pem \(folder.file(name))")
            #expect((verdict.status == 0) == isGood, "\(name): \(verdict.output)")
        }
    }

    @Test(arguments: ["ca/", "a//b/ca///"])
    func toleratesSlashes(_ path: String) throws {
        let made = try CertificateAuthority.open(folder: folder.file(path))
        let again = try CertificateAuthority.open(folder: folder.file(path))
        #expect(again.certificate.fingerprint == made.certificate.fingerprint)
    }

    @Test func isOneWhenManyOpenItAtOnce() async throws {
        let place = folder.file("state/ca")
        let prints = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<16 {
                group.addTask { @concurrent in
                    try CertificateAuthority.open(folder: place).certificate.fingerprint
                }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(prints.count == 1)
        #expect(shell("ls -A \(folder.path)/state").output == "ca\n")
    }

    @Test func isNotPutAmongOtherThings() throws {
        let place = folder.file("full")
        try Files.makeFolder(place)
        try Files.create("\(place)/notes", [1])
        let failure = #expect(throws: Failure.self) {
            _ = try CertificateAuthority.open(folder: place)
        }
        #expect(failure?.code == "file-unwritable")
        #expect(failure?.detail == "cannot make a CA in \(place): it cannot be put there")
        #expect(shell("ls -A \(folder.path)").output == "full\n")
    }

    @Test(arguments: ["ca.key", "ca.pem"])
    func isNotMadeAnewWhenHalfIsGone(_ name: String) throws {
        let place = folder.file("ca")
        _ = try CertificateAuthority.open(folder: place)
        Files.remove("\(place)/\(name)")
        let failure = #expect(throws: Failure.self) {
            _ = try CertificateAuthority.open(folder: place)
        }
        #expect(failure?.code == "file-unreadable")
        #expect(!Files.exists("\(place)/\(name)"))
    }

    // MARK: Bringing one along

    private func make(_ name: String, extensions: String = "") -> String {
        let place = folder.file(name)
        let made = shell(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=Own \
            -keyout \(place).key -out \(place).pem -days 9 \(extensions)
            """)
        #expect(made.status == 0, "\(made.output)")
        return place
    }

    private func load(
        _ certificate: String, _ key: String, password: String? = nil
    ) throws -> CertificateAuthority {
        try CertificateAuthority.load(
            certificatePath: certificate, keyPath: key, password: password)
    }

    @Test func canBeBrought() throws {
        let place = make("own")
        let loaded = try load("\(place).pem", "\(place).key")
        #expect(loaded.certificate.subject == "CN=Own")
        let context = TLSServerContext(authority: loaded, ticketKey: TLSLaboratory.ticketKey)
        try Files.create(folder.file("leaf"), context.leaf(for: "a.test").pem)
        let verdict = shell("openssl verify -CAfile \(place).pem \(folder.file("leaf"))")
        #expect(verdict.status == 0, "\(verdict.output)")
    }

    @Test func mustHaveItsOwnKey() {
        let (own, other) = (make("own"), make("other"))
        let failure = #expect(throws: Failure.self) {
            _ = try load("\(own).pem", "\(other).key")
        }
        #expect(failure?.code == "key-mismatch")
    }

    @Test func mustBeAnAuthority() {
        let place = make("leaf", extensions: "-addext basicConstraints=critical,CA:FALSE")
        let failure = #expect(throws: Failure.self) {
            _ = try load("\(place).pem", "\(place).key")
        }
        #expect(failure?.code == "certificate-invalid")
        #expect(failure?.detail.hasSuffix("may not issue others") == true)
    }

    @Test func mustNotHaveEnded() throws {
        let made = try CertificateAuthority.open(folder: folder.file("ca"))
        let certificate = unsafe made.certificate.pointer
        unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), -86_400)
        unsafe X509_sign(certificate, made.key.pointer, EVP_sha256())
        try Files.create(folder.file("old.pem"), made.certificate.pem)
        let failure = #expect(throws: Failure.self) {
            _ = try load(folder.file("old.pem"), made.keyPath)
        }
        #expect(failure?.code == "certificate-invalid")
        #expect(failure?.detail.contains(" ended on 2") == true)
    }

    struct KeyRow: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let command: String
    }

    /// Both ways to encrypt a key in PEM.
    static let keyRows = [
        KeyRow(testDescription: "PKCS #8", command: "pkcs8 -topk8 -v2 aes-256-cbc"),
        KeyRow(testDescription: "with Proc-Type", command: "ec -aes256"),
    ]

    /// Nobody is asked: a terminal there is, and no answer would come.
    @Test(arguments: keyRows)
    func needsThePasswordOfItsKey(_ row: KeyRow) throws {
        let place = make("own")
        let made = shell(
            "openssl \(row.command) -in \(place).key -passout pass:secret -out \(place).locked")
        #expect(made.status == 0, "\(made.output)")
        _ = try load("\(place).pem", "\(place).locked", password: "secret")
        for password in [nil, "", "wrong", "secre", "secrett"] as [String?] {
            let failure = #expect(throws: Failure.self) {
                _ = try load("\(place).pem", "\(place).locked", password: password)
            }
            #expect(failure?.code == "key-invalid")
            #expect(failure?.hint?.contains("password") == true)
        }
        // A password that is not needed does no harm.
        _ = try load("\(place).pem", "\(place).key", password: "secret")
    }

    @Test(arguments: [
        "", "no PEM at all", "-----BEGIN CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "\u{0}\u{0}",
    ])
    func refusesWhatIsNoPEM(_ text: String) throws {
        let place = make("own")
        try Files.create(folder.file("broken"), [UInt8](text.utf8))
        let certificate = #expect(throws: Failure.self) {
            _ = try load(folder.file("broken"), "\(place).key")
        }
        #expect(certificate?.code == "certificate-invalid")
        let key = #expect(throws: Failure.self) {
            _ = try load("\(place).pem", folder.file("broken"))
        }
        #expect(key?.code == "key-invalid")
    }

    @Test func readsEveryCertificateOfAFile() throws {
        let (first, second) = (make("first"), make("second"))
        let pem =
            try Array("text before\n".utf8) + Files.read("\(first).pem")
            + Files.read("\(second).key") + Files.read("\(second).pem")
        let all = try Certificate.all(inPEM: pem, name: "both")
        #expect(all.count == 2)
        #expect(try Certificate(pem: pem, name: "both").fingerprint == all[0].fingerprint)
        #expect(try Certificate.all(inPEM: [], name: "none").isEmpty)
        let print = shell("openssl x509 -in \(first).pem -outform der | sha256sum").output
        #expect(print.hasPrefix(all[0].fingerprint.hex))
        #expect(try Certificate(pem: all[0].pem, name: "again").der == all[0].der)
    }
}
